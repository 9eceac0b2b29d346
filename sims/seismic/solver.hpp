// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "h5/file.hpp"
#include "kernel.hpp"
#include "medium.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"
#include "wavelet.hpp"

namespace tailrace::seismic {

/// Describes what is to be computed.
struct Problem {
  Index3 cells;  ///< refers to the domain; the layer of a boundary comes around it
  std::array<double, 3> spacing_m{1, 1, 1};
  double dt_s = 0;
  Properties properties;
  Boundary boundary;
  std::vector<Source> sources;
  h5::ElementType precision = h5::ElementType::float32;
  /// Points around the domain that fields show too, at most the layer and the `reach` points of zeros around
  /// it.
  std::int64_t margin = 0;

  /// The domain with the layer around it.
  [[nodiscard]] Index3 grid() const noexcept {
    const auto both = 2 * boundary.width;
    return {cells.x + both, cells.y + both, cells.z + both};
  }
  /// The points that fields show.
  [[nodiscard]] Index3 shown() const noexcept {
    return {cells.x + 2 * margin, cells.y + 2 * margin, cells.z + 2 * margin};
  }
};

/// Largest time step for which the scheme is stable, with the largest speed there is. @local
double largest_stable_dt_s(const std::array<double, 3>& spacing_m, double speed_m_s) noexcept;

/// Looks at the whole domain, each rank at its part. @collective{comm}, synchronises. Errors (input), on all
/// ranks: values that cannot be.
Extremes survey(mpi::CommView comm, const Problem& problem);

/// Bytes that the solver takes on a rank.
struct SolverMemory {
  double host_bytes = 0, device_bytes = 0;
};

/// Describes where a solver computes, if not as usual.
struct SolverPlace {
  std::optional<layout::RankBricks> bricks = {};    ///< cut the grid, instead of the way that costs least
  std::optional<device::ComputeQueue> device = {};  ///< instead of the processor
};

class SolverState;

/// The fields p and q of a problem on this rank's part of the grid, and how they continue; a
/// `run::Simulation`. Their values do not depend on the number of ranks and threads, bit for bit; those of
/// devices differ from those of processors by rounding.
class Solver {
 public:
  /// Everything at rest. @collective{comm}, synchronises. Errors (resource), on all ranks: a device has no
  /// room.
  Solver(mpi::CommView comm, const Problem& problem, const Extremes& extremes, trace::Log& log,
         const SolverPlace& place = {});
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// From step - 1 to step. @collective
  void advance(StepIndex step);
  /// "p" or "q" on this rank's part of what fields show. @local
  [[nodiscard]] output::FieldView field(const std::string& quantity) const;
  /// This rank's part of what fields show, counted there, which may be empty. @local
  [[nodiscard]] const Box& own_cells() const noexcept { return own_cells_; }
  /// Bytes of the host's memory. @local
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// Returns what a rank will take. @local
  [[nodiscard]] static SolverMemory needed_memory(const Problem& problem, int ranks, int rank,
                                                  bool on_device);
  /// Saves or restores the two levels of the fields. @local. Errors (input): another time step.
  void state(checkpoint::StateArchive& archive);
  /// After the state came back: gets the halos from the other ranks. @collective
  void restored(StepIndex step);

 private:
  std::unique_ptr<SolverState> state_;
  Box own_cells_;
  Index3 first_;  ///< its low corner in the arrays
};

/// This rank's part of what fields show under the decomposition that `Solver` takes. @local
Box own_cells(const Problem& problem, int ranks, int rank);

}  // namespace tailrace::seismic
