// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace tailrace::molecules {

/// The command line as typed.
struct CommandLine : run::CaseWords {
  Options options;
};

/// Fills the options from the case, over which the settings go. @local. Errors (input): all problems
/// together.
void apply_case(CommandLine& line);

}  // namespace tailrace::molecules
