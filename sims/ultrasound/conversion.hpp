// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "checkpoint.hpp"
#include "tailrace/run/conversion.hpp"

namespace tailrace::ultrasound {

inline constexpr const char* kwave_format_name = "kwave";

/// The arrays of a run: those that are read from a checkpoint file, and all that are written into one.
struct ConvertedArrays {
  std::vector<StateArray> state;
  ArraySource saved;
};

/// k-Wave's checkpoint files, by that name, for `run::convert_checkpoint`: of a run of `steps` steps with
/// these arrays. It outlives their memory as little as they do.
run::ForeignFormat kwave_format(mpi::CommView comm, const CheckpointOrigin& origin, StepIndex steps,
                                const ConvertedArrays& arrays, const output::WriteOptions& write);

}  // namespace tailrace::ultrasound
