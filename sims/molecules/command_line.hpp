#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "tailrace/run/command_line.hpp"

namespace tailrace::molecules {

/// The command line as typed.
struct CommandLine {
  Options options;
  std::string case_file, out_directory, trace;
  ::tailrace::run::RunWords run;
  std::vector<std::string> settings;  ///< "key=value"
  ::tailrace::output::OptionTexts write;
};

/// Fills the options from the case, over which the settings go. @local. Errors (input): all problems
/// together.
void apply_case(CommandLine& line);

}  // namespace tailrace::molecules
