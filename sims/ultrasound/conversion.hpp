// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "checkpoint.hpp"
#include "tailrace/run/conversion.hpp"

namespace tailrace::ultrasound {

inline constexpr const char* kwave_format_name = "kwave";

/// k-Wave's checkpoint files, by that name, for `run::convert_checkpoint`: of a run of `steps` steps
/// whose state is in `state`. It outlives the memory of the state as little as that does.
run::ForeignFormat kwave_format(mpi::CommView comm, const CheckpointOrigin& origin, StepIndex steps,
                                const std::vector<StateArray>& state, const output::WriteOptions& write);

}  // namespace tailrace::ultrasound
