// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "command_line.hpp"
#include "conversion.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  auto parser = run::make_parser(program_info);
  run::add_case_options(parser, line);
  run::add_conversion_options(parser, format_names(), line.conversion);
  if (auto notice = run::read_words(parser, program_info, line, argc, argv)) return std::move(*notice);
  run::finalize(line, argc, argv, "", line.options);
  if (!line.case_file.empty())
    apply_case(line);
  else if (!line.options.conversion)  // files alone may say enough
    throw Error(ErrorKind::usage, "no case. Fix: add --case FILE");
  return std::move(line.options);
}

}  // namespace tailrace::molecules
