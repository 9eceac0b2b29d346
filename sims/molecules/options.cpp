#include "options.hpp"

#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "conversion.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Molecular dynamics of rigid molecules", "tailrace-molecules");
  app.get_formatter()->column_width(34);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  run::add_case_options(app, line);
  run::add_conversion_options(app, format_names(), line.conversion);
  app.footer(
      "A case is a TOML file, or a configuration of MarDyn (.cfg, .xml).\n"
      "Exit status: 0 finished, 2 bad usage or input, 3 the run failed, 4 stopped in good order.");
  if (auto help = run::read_words(app, argc, argv)) return run::Notice{std::move(*help)};
  if (auto text = run::answer(line.run, app.get_name(), TAILRACE_COMPILER))
    return run::Notice{std::move(*text)};
  run::settle(line, argc, argv, "", line.options);
  if (!line.case_file.empty())
    apply_case(line);
  else if (!line.options.conversion)  // files alone may tell enough
    throw Error(ErrorKind::usage, "no case. Fix: add --case FILE");
  return std::move(line.options);
}

}  // namespace tailrace::molecules
