// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "am/endpoint.hpp"
#include "fragments/interpreter.hpp"
#include "fragments/printed_lines.hpp"

namespace tailrace::fragments {

/// Runs a program on all ranks of an endpoint, with the results of `interpret`, bit for bit: they do not
/// depend on ranks, placement and delays. The ending is the same on all ranks, but for `executed`, which
/// counts the rank's own fragments. Bodies run on the calling thread. The endpoint has no other handlers.
/// What `printed` keeps, rank 0 prints.
/// @collective{ranks of the endpoint}. Errors (usage, input): arguments or bodies that do not fit, on all
/// ranks; internal: ranks whose programs differ
Ending run(am::Endpoint& endpoint, const std::shared_ptr<const Image>& image, const Bodies& bodies,
           const std::vector<std::string>& words, PrintedLines* printed = nullptr);

}  // namespace tailrace::fragments
