// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "output/core/running_stream.hpp"
#include "tailrace/file_content.hpp"

namespace tailrace::output {

/// Looks whether the file at `path` was laid out for the streams of the plan and for nothing else, and
/// whether the running reductions are where `resume` says. @local. Errors (input): all that is wrong, in one
/// message.
void check_resumable(const std::string& path, const Plan& plan, const FileHead& head, const Resume& resume);

/// Gives the streams back what they had taken up to `resume.after`: numbers of samples, and the values of
/// this rank's accumulators. @local. Errors (io, input): what cannot be read.
void restore(std::vector<RunningStream>& streams, const std::string& path, const Resume& resume);

/// Returns what is in the accumulators of the streams, in the form of `KeptReductions::all`.
std::vector<RunningReduction> running_reductions(std::vector<RunningStream>& streams);

}  // namespace tailrace::output
