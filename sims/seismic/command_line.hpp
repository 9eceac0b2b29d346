#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "tailrace/run/command_line.hpp"

namespace tailrace::seismic {

/// The command line as typed.
struct CommandLine {
  Options options;
  std::string case_file, out_directory, trace;
  ::tailrace::run::RunWords run;
  std::vector<std::string> settings;  ///< "key=value"
  std::vector<std::string> proxy;     ///< words without an option: FORM NX NY NZ ...
  ::tailrace::output::OptionTexts write;
};

/// Fills the options from the case, or from the words that stand for one, over which the settings go. @local.
/// Errors (input): all problems together.
void apply_case(CommandLine& line);

}  // namespace tailrace::seismic
