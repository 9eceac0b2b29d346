// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "checkpoint.hpp"
#include "options.hpp"
#include "tailrace/run/driver.hpp"

namespace tailrace::ultrasound {

/// One segment of a computation under k-Wave's checkpoint options: it begins where the last one stopped, and
/// stops before the end if it must. Without those options it is the whole computation.
class Segment {
 public:
  Segment(mpi::CommView comm, const Options& options) : comm_(comm), options_(options) {}

  /// Looks for what earlier segments left, and whether it fits the input and what is recorded.
  /// @collective{comm}, synchronises. Errors (usage, input), the same on all ranks.
  void begin(const CheckpointOrigin& origin, const Grid& grid, StepIndex steps,
             const std::vector<output::Stream>& streams);

  [[nodiscard]] bool resumes() const noexcept { return header_.has_value(); }
  /// Returns how the output file is opened. @local
  [[nodiscard]] output::Resume resume() const;
  /// Fills the state of a solver. Only if it resumes. @collective{comm}, synchronises.
  StepIndex read_state(const std::vector<StateArray>& state) const;
  /// Once the output is open: sees that the reductions that came from it are safe before the end of the run
  /// writes over them. @collective{comm}, synchronises.
  void adopt(const ArraySource& arrays, output::Session& session) const;

  /// The steps of this segment. @local
  [[nodiscard]] run::StepSpan steps() const noexcept;
  /// The times of all segments, of which `mine` is the last. @local
  [[nodiscard]] PhaseTimes add_up(const PhaseTimes& mine) const noexcept;

  /// True if the computation stops here for another segment. @local
  [[nodiscard]] bool stops(const run::DriveResult& result) const noexcept;
  /// Writes the checkpoint with all `arrays` of k-Wave's. @collective{comm}, synchronises; every rank throws
  /// the same error or none.
  void save(StepIndex step, const ArraySource& arrays, output::Session& session) const;
  /// Removes the checkpoint of a computation that has come to its end. @collective{comm}, synchronises; every
  /// rank throws the same error or none.
  void remove() const;

 private:
  [[nodiscard]] const std::string& file() const noexcept { return options_.kwave_checkpoint->file; }
  void check_names() const;

  mpi::CommView comm_;
  const Options& options_;
  CheckpointOrigin origin_;
  StepIndex planned_ = 0;
  bool reduces_ = false;
  std::optional<CheckpointHeader> header_;
  PhaseTimes earlier_;
};

}  // namespace tailrace::ultrasound
