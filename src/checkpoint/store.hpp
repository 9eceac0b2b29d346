// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tailrace/box.hpp"

/// The directory in which the checkpoints of a run are. Nothing here communicates: rank 0 calls it.
namespace tailrace::checkpoint {

/// One complete checkpoint.
struct StoredCheckpoint {
  StepIndex step = 0;
  std::string path;
};

/// The complete checkpoints in `directory`, newest step first; none if it does not exist. Errors (io): it
/// cannot be read.
std::vector<StoredCheckpoint> list_checkpoints(const std::string& directory);

/// Returns where the checkpoint of a step is, and where it grows.
std::string checkpoint_path(const std::string& directory, StepIndex step);
std::string partial_path(const std::string& directory, StepIndex step);

/// Makes an empty place for the checkpoint of a step to grow in, and removes what an earlier one left there.
/// Errors (io).
std::string begin_checkpoint(const std::string& directory, StepIndex step);
/// Gives what is at `partial_path`, all on the device, its name; a checkpoint of the same step is
/// replaced. It keeps the name after a crash of the machine too. Errors (io).
void commit_checkpoint(const std::string& directory, StepIndex step);
/// Removes checkpoints until the newest `keep` are left, and partial ones. `kept` is never removed. Returns
/// what could not be removed.
std::vector<std::string> prune_checkpoints(const std::string& directory, int keep,
                                           std::optional<StepIndex> kept = {});

}  // namespace tailrace::checkpoint
