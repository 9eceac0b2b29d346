// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/output.hpp"

namespace tailrace::output {

/// Checks what a program gives for an output file, and returns the options as its sink takes them.
/// @collective{comm}, synchronises. Errors, the same on all ranks: (usage) ranks were given different paths,
/// frames, streams or options, or options that do not go together; (input) what is wrong with the streams;
/// own boxes that do not cover the domain once.
WriteOptions check_contents(mpi::CommView comm, const std::string& path, const OutputContents& contents,
                            WriteOptions options);

}  // namespace tailrace::output
