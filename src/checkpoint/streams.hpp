// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "output/core/resume.hpp"
#include "tailrace/checkpoint.hpp"

namespace tailrace::checkpoint {

/// Passes the running reductions of an output through the archive, as component "output": those of a session
/// when the state is saved, room for them (`output::KeptReductions`) when it is restored. All ranks have the
/// same list; each value comes back to the rank that takes its point.
void pass_reductions(StateArchive& archive, const std::vector<output::RunningReduction>& reductions);

}  // namespace tailrace::checkpoint
