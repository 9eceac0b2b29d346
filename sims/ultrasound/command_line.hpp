// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "options.hpp"

namespace tailrace::ultrasound {

/// The command line as typed, before a case file fills what it leaves open.
struct CommandLine : run::CaseWords {
  Options options;
  std::string precision, run_directory, checkpoint_file;
  std::int64_t checkpoint_interval_s = 0, checkpoint_timesteps = 0;  ///< 0: not given
  StepIndex benchmark_steps = 0, start = 0;                          ///< likewise
  int deflate_level = -1, gpu = -1;                                  ///< -1: not given
};

/// Fills what the command line left open from the case that it names. @local
/// Errors (usage, input): all problems of the case together.
void apply_case(CommandLine& line);

/// Reads the name of a precision. Errors (usage), with `name` for where the text comes from.
Precision parse_precision(const char* name, const std::string& text);

}  // namespace tailrace::ultrasound
