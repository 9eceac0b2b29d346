// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "solver.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::heat {

/// Values at the points of a grid, for outputs: point i of n along an axis is at (i + 0.5) / n, in the
/// element whose half-open box holds it. Each rank keeps those of a brick of the grid; ranks with elements
/// evaluate them there and send them.
class Samples {
 public:
  Samples(mpi::CommView comm, const std::vector<output::Stream>& streams, Index3 grid);

  [[nodiscard]] Box own_box() const { return bricks_.box(comm_.rank()); }
  /// Evaluates what outputs take at this step. @collective{comm}; synchronises if anything is due
  void take(StepIndex step, const Solver& solver, const Ball& ball);
  /// The same for outputs of the last state, `reduce = "final"`. @collective{comm}
  void take_last(const Solver& solver, const Ball& ball);
  /// The values of a quantity that an output takes. @local
  [[nodiscard]] output::FieldView field(const std::string& quantity) const;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The boxes of the grid that a selection names. @local
  static std::vector<Box> regions_of(const output::Selection& selection, Index3 grid);

 private:
  struct Wanted {
    output::Cadence cadence;
    bool final = false;
    std::string quantity;
    std::vector<Box> regions;
  };
  void gather(const std::vector<const Wanted*>& due, const Solver& solver, const Ball& ball);
  void evaluate_source(const std::vector<Box>& regions, const Ball& ball);
  [[nodiscard]] std::size_t place_of(Index3 point) const noexcept;

  mpi::CommView comm_;
  Index3 grid_;
  layout::Decomposition bricks_;
  std::vector<Wanted> wanted_;
  std::map<std::string, std::vector<double>> values_;  ///< of this rank's brick
};

}  // namespace tailrace::heat
