#include "options.hpp"

#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

namespace {

constexpr const char* footer_text =
    "Exit status: 0 finished, 2 bad usage or input, 3 the run failed, 4 stopped in good order.";

/// What the case is: a file, or the words of the public programs.
void settle_case(CommandLine& line, int argc, const char* const* argv) {
  auto& options = line.options;
  if (line.case_file.empty() == line.proxy.empty())
    throw Error(
        ErrorKind::usage,
        line.proxy.empty()
            ? "no case. Fix: add --case FILE.toml"
            : "a case and other words. Fix: give --case FILE.toml, or FORM NX NY NZ ABSORB DX DY DZ DT TMAX");
  if (!line.proxy.empty()) options.proxy_form = line.proxy.front();
  options.tells_plan = line.proxy.empty();
  run::settle(line, argc, argv, line.proxy.empty() ? "" : options.proxy_form + ".h5", options);
}

}  // namespace

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Acoustic waves in tilted transversely isotropic media", "tailrace-seismic");
  app.get_formatter()->column_width(34);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  run::add_case_options(app, line);
  app.add_option("words", line.proxy, "instead of a case: as the public Fletcher programs are called")
      ->type_name("FORM NX NY NZ ABSORB DX DY DZ DT TMAX")
      ->group("Files");
  app.footer(footer_text);
  if (auto help = run::read_words(app, argc, argv)) return run::Notice{std::move(*help)};
  if (auto text = run::answer(line.run, app.get_name(), TAILRACE_COMPILER))
    return run::Notice{std::move(*text)};
  settle_case(line, argc, argv);
  apply_case(line);
  return std::move(line.options);
}

}  // namespace tailrace::seismic
