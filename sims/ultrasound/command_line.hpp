#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace tailrace::ultrasound {

/// The command line as typed, before a case file fills what it leaves open.
struct CommandLine {
  Options options;
  std::string case_file, out_directory, wall_limit, precision, trace;
  std::vector<std::string> overrides;
  ::tailrace::output::OptionTexts write;
  std::string checkpoint_file;
  run::Conversion conversion;
  std::int64_t checkpoint_interval_s = 0, checkpoint_timesteps = 0;  ///< 0: not given
  StepIndex benchmark_steps = 0, start = 0;                          ///< likewise
  int threads = 0;                                                   ///< likewise
  int deflate_level = -1, gpu = -1;                                  ///< -1: not given
  bool version = false;
};

/// Fills what the command line left open from the case that it names. @local
/// Errors (usage, input): all problems of the case together.
void apply_case(CommandLine& line);

/// Reads the name of a precision. Errors (usage), with `name` for where the text comes from.
Precision parse_precision(const char* name, const std::string& text);

}  // namespace tailrace::ultrasound
