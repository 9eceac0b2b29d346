// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace tailrace::rehearse {

/// The command line as typed; the settings are those of --set, then those of options with a key.
struct CommandLine : run::CaseWords {
  Options options;
};

/// Fills the options from the case, over which the settings go; without a case file from the settings alone.
/// @local. Errors (usage without a case file, else input): all problems together.
void apply_case(CommandLine& line);

}  // namespace tailrace::rehearse
