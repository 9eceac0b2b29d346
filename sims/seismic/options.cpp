// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "command_line.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

namespace {

/// Finds out what the case is: a file, or the words of the public programs.
void finalize_case(CommandLine& line, int argc, const char* const* argv) {
  auto& options = line.options;
  if (line.case_file.empty() == line.proxy.empty())
    throw Error(
        ErrorKind::usage,
        line.proxy.empty()
            ? "no case. Fix: add --case FILE.toml"
            : "a case and other words. Fix: give --case FILE.toml, or FORM NX NY NZ ABSORB DX DY DZ DT TMAX");
  if (!line.proxy.empty()) options.proxy_form = line.proxy.front();
  options.reports_plan = line.proxy.empty();
  run::finalize(line, argc, argv, line.proxy.empty() ? "" : options.proxy_form + ".h5", options);
}

}  // namespace

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  auto parser = run::make_parser(program_info);
  run::add_case_options(parser, line);
  run::add_device_option(parser, line);
  parser.option("words", line.proxy, "instead of a case: as the public Fletcher programs are called")
      .type("FORM NX NY NZ ABSORB DX DY DZ DT TMAX")
      .group("Files");
  if (auto notice = run::read_words(parser, program_info, line, argc, argv)) return std::move(*notice);
  finalize_case(line, argc, argv);
  apply_case(line);
  return std::move(line.options);
}

}  // namespace tailrace::seismic
