#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "command_line.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/run/command_line.hpp"

namespace tailrace::molecules {

namespace {

constexpr const char* footer_text =
    "Exit status: 0 finished, 2 bad usage or input, 3 the run failed, 4 stopped in good order.";

void add_file_options(CLI::App& app, CommandLine& line) {
  auto& options = line.options;
  const std::string group = "Files";
  app.add_option("--case", line.case_file, "case file (.toml), or a configuration of MarDyn (.cfg, .xml)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--out", line.out_directory, "run directory to make: output.h5, run.json, trace")
      ->type_name("DIR")
      ->group(group);
  app.add_option("-o", options.output, "output file, alone or instead of DIR/output.h5")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--set", line.settings, "override a key of the case, such as time.steps=50")
      ->type_name("KEY=VALUE")
      ->group(group)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--overwrite", options.overwrite, "an existing run directory may be used")->group(group);
  app.add_flag("--check", options.check_only, "read and check everything, then stop")->group(group);
}

/// What the program is told of files.
void settle_files(CommandLine& line) {
  auto& options = line.options;
  if (line.case_file.empty()) throw Error(ErrorKind::usage, "no case. Fix: add --case FILE");
  options.case_file = std::filesystem::absolute(line.case_file).lexically_normal().string();
  options.run_directory = line.out_directory;
  if (options.output.empty() && !line.out_directory.empty())
    options.output = (std::filesystem::path(line.out_directory) / "output.h5").string();
  if (options.output.empty() && !options.check_only)
    throw Error(ErrorKind::usage, "no place for the output. Fix: add --out DIR or -o FILE");
  options.wall_limit_s = run::wall_limit_s(line.run);
  options.threads = line.run.threads;
  options.resume = line.run.resume;
  options.quiet = line.run.quiet;
}

}  // namespace

std::variant<Options, Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Molecular dynamics of rigid molecules", "tailrace-molecules");
  app.get_formatter()->column_width(34);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_file_options(app, line);
  run::add_write_options(app, line.write);
  run::add_trace_option(app, line.trace);
  run::add_run_options(app, line.run);
  app.footer(footer_text);
  if (auto help = run::read_words(app, argc, argv)) return Notice{std::move(*help)};
  if (auto text = run::answer(line.run, app.get_name(), TAILRACE_COMPILER)) return Notice{std::move(*text)};
  settle_files(line);
  line.options.arguments = run::arguments(argc, argv);
  line.options.command = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  apply_case(line);
  return std::move(line.options);
}

}  // namespace tailrace::molecules
