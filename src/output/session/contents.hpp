// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/output.hpp"

namespace tailrace::output {

/// Checks what a program gives for an output file. @collective{comm}, synchronises. Errors, the same on all
/// ranks: (usage) ranks were given different paths, frames, streams or options; (input) what is wrong with
/// the streams; own boxes that do not cover the domain once.
void check_contents(mpi::CommView comm, const std::string& path, const OutputContents& contents,
                    const WriteOptions& options);

}  // namespace tailrace::output
