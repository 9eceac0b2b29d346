// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace tailrace::heat {

/// The command line as typed.
struct CommandLine : run::CaseWords {
  Options options;
  std::string npb_class;  ///< a class of NPB instead of a case
  std::string npb_input;  ///< NPB's inputua.data, which replaces some of its values
  bool verbose = false;
};

/// Settings that represent the class and the file of NPB. @local. Errors (input): the file cannot be read, or
/// a line is missing or wrong; all problems together.
std::vector<std::string> npb_settings(const CommandLine& line);

/// Fills the options from the case, or from the class, over which the settings go. @local. Errors (input):
/// all problems together.
void apply_case(CommandLine& line);

}  // namespace tailrace::heat
