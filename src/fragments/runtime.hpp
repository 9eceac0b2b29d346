// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "am/endpoint.hpp"
#include "fragments/checkpoints.hpp"
#include "fragments/interpreter.hpp"
#include "fragments/printed_lines.hpp"
#include "tailrace/fragments/options.hpp"

namespace tailrace::fragments {

/// How a rank runs a program.
struct RunOptions : Options {
  PrintedLines* printed = nullptr;  ///< what it keeps, rank 0 prints
  bool own_process = false;         ///< the rank is a process: each worker has a core where there are as many
  Checkpoints* taken = nullptr;     ///< checkpoints, of this rank
  bool counts = false;              ///< the ending has what the fragments of each statement came to
};

/// Runs a program on all ranks of an endpoint, with the results of `interpret`, bit for bit: they do not
/// depend on ranks, workers, placement and delays. The ending is the same on all ranks, but for `executed`,
/// which counts the rank's own fragments. With one worker bodies run on the calling thread, between messages;
/// with several on threads of their own. The endpoint has no other handlers. With checkpoints the program
/// begins where it was saved, on any number of ranks.
/// @collective{ranks of the endpoint}. Errors (usage, input): options, arguments or bodies that do not fit,
/// on all ranks; internal: ranks whose programs differ
Ending run(am::Endpoint& endpoint, const std::shared_ptr<const Image>& image, const Bodies& bodies,
           const std::vector<std::string>& words, const RunOptions& options = {});

}  // namespace tailrace::fragments
