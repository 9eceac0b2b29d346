// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tailrace/option_parser.hpp"
#include "tailrace/write_options.hpp"

/// Options that the command lines of all native programs have in common.
namespace tailrace::run {

/// Adds --write, --sink, --pace, --flush, --directories, --stripe, --lustre-count, --lustre-size, --bind,
/// --plan and --fault; `texts` takes what is typed and outlives the parser.
void add_write_options(OptionParser& parser, output::OptionTexts& texts);
/// Adds --trace, likewise.
void add_trace_option(OptionParser& parser, std::string& text);

/// Describes what the command line says of the run as a whole.
struct RunWords {
  int threads = 1;
  std::string wall_limit;  ///< a duration as typed, empty if there is none
  bool resume = false;     ///< resume from the newest checkpoint
  bool quiet = false;
  bool version = false, list = false, case_template = false,
       case_schema = false;  ///< requests that end the program at once
};
/// Adds -t (default: OMP_NUM_THREADS or 1), --wall-limit, --resume, --quiet, --version, --list and the schema
/// options; `words` outlives the parser.
void add_run_options(OptionParser& parser, RunWords& words);
/// Returns what to print for --version or --list, if one of them is given. @local
std::optional<std::string> answer(const RunWords& words, const std::string& program);
/// The words of a command line behind the name of the program. @local
std::vector<std::string> arguments(int argc, const char* const* argv);
/// Seconds of --wall-limit. @local. Errors (usage): it is no duration.
std::optional<double> wall_limit_s(const RunWords& words);

}  // namespace tailrace::run
