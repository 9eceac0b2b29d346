// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "grid.hpp"
#include "output/session/session.hpp"
#include "output_file.hpp"
#include "state.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/write_options.hpp"

/// k-Wave checkpoint files: a run stops, another one continues (docs/formats/ultrasound_checkpoint.md).
namespace tailrace::ultrasound {

/// Describes what a checkpoint repeats from the input.
struct CheckpointOrigin {
  std::string description;
  int minor_version = 2;
  Index3 points;
};

/// Describes what a checkpoint file says of itself.
struct CheckpointHeader {
  StepIndex step = 0;
  bool has_reductions = false;  ///< it holds the running reductions too, as ours do
};

/// Names of the arrays that a checkpoint of such a grid holds, as in `StateArray`.
std::vector<std::string> checkpoint_arrays(Index3 points);

/// Running reductions on their way to a file.
struct LeavingReductions {
  std::vector<output::PlannedStream> streams;  ///< `output::accumulator_streams`, counted behind the arrays
  std::vector<output::RunningReduction> values;
};

/// Puts the state after `step` and the running reductions into the file at `path`. It takes its name when it
/// is complete and on the device, so that an older one stays valid until then; the samples that belong to it
/// are there already. All ranks write, each its part. `options` give pace and faults.
/// @collective{comm}, synchronises; every rank throws the same error or none.
void write_checkpoint(mpi::CommView comm, const std::string& path, const CheckpointOrigin& origin,
                      StepIndex step, const std::vector<StateArray>& state, LeavingReductions reductions,
                      const output::WriteOptions& options);

/// Looks at the file of a run on `points` that takes `steps` steps. @collective{comm}, synchronises. Errors
/// (input), the same on all ranks: all that is wrong.
CheckpointHeader inspect_checkpoint(mpi::CommView comm, const std::string& path, Index3 points,
                                    StepIndex steps);

/// Fills this rank's part of the state, converted to the arrays' types. @collective{comm}, synchronises.
void read_checkpoint(mpi::CommView comm, const std::string& path, const std::vector<StateArray>& state);

/// Looks whether the output file at `path` belongs to the checkpoint and to a run of `steps` steps on `grid`;
/// returns the times of the segments so far. `reduces`: the run records reductions. @collective{comm},
/// synchronises. Errors (input), the same on all ranks: all that is wrong.
PhaseTimes inspect_left_output(mpi::CommView comm, const std::string& path,
                               const CheckpointHeader& checkpoint, const Grid& grid, StepIndex steps,
                               bool reduces);

}  // namespace tailrace::ultrasound
