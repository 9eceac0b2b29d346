// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tailrace/checkpoint.hpp"

namespace tailrace::checkpoint {

/// Digests of what a run computes from beside its state, by the names that users know: datasets, keys.
using InputDigests = std::map<std::string, std::uint64_t>;

/// Passes them through the archive, as component "inputs"; all ranks have the same. `subject` is in messages
/// for where the inputs come from. Checkpoints without them are taken as they are. Errors (input): the
/// checkpoint is of a run with other inputs.
void pass_inputs(StateArchive& archive, const std::string& subject, const InputDigests& inputs);

}  // namespace tailrace::checkpoint
