// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace tailrace::seismic {

/// The command line as typed.
struct CommandLine : run::CaseWords {
  Options options;
  std::vector<std::string> proxy;  ///< words without an option: FORM NX NY NZ ...
};

/// Fills the options from the case, or from the words that represent one, over which the settings go. @local.
/// Errors (input): all problems together.
void apply_case(CommandLine& line);

}  // namespace tailrace::seismic
