#include "options.hpp"

#include <fftw3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tailrace/base/system.hpp"
#include "tailrace/h5/file.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::ultrasound {

namespace {

/// The command line as typed, before a case file fills what it leaves open.
struct CommandLine {
  Options options;
  std::string case_file, out_directory, wall_limit;
  std::vector<std::string> overrides;
  output::OptionTexts write;
  StepIndex benchmark_steps = 0;
  int threads = 0;
  StepIndex start = 0;
  bool version = false;
};

int default_threads() {
  // As k-Wave: OMP_NUM_THREADS, else every logical core that this process may use.
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return omp_get_max_threads();
  return omp_get_num_procs();
}

void add_input_options(CLI::App& app, CommandLine& line) {
  auto& options = line.options;
  app.add_option("-i", options.input, "k-Wave input file")->type_name("FILE")->group("Files");
  app.add_option("-o", options.output, "output file")->type_name("FILE")->group("Files");
  app.add_option("--case", line.case_file, "case file (.toml) or k-Wave input (.h5), instead of -i and -o")
      ->type_name("FILE")
      ->group("Files");
  app.add_option("--out", line.out_directory, "run directory of --case; must not exist")
      ->type_name("DIR")
      ->group("Files");
  app.add_option("--set", line.overrides, "override a key of the case, such as time.steps=50")
      ->type_name("KEY=VALUE")
      ->group("Files")
      ->allow_extra_args(false);
  app.add_flag("--overwrite", options.overwrite, "an existing run directory may be used")->group("Files");
  app.add_flag("--check", options.check_only, "read and check everything, then stop")->group("Files");
  app.add_option("--run-dir", options.run_directory,
                 "with -i and -o: also write run.json, progress and traces here")
      ->type_name("DIR")
      ->group("Files");
}

/// Accepts integers from 1 (or `least`) to `most`; the limits stand in the help text, not in the type.
CLI::Validator within(std::int64_t least, std::int64_t most) {
  return CLI::Range(least, most).description("");
}

void add_run_options(CLI::App& app, CommandLine& line) {
  constexpr auto any = std::numeric_limits<StepIndex>::max();
  auto& options = line.options;
  const auto number = [&](const std::string& name, auto& value, const std::string& help,
                          CLI::Validator check) {
    app.add_option(name, value, help)->check(std::move(check))->type_name("N")->group("Run");
  };
  number("-t", line.threads, "threads per rank (default: OMP_NUM_THREADS or all cores)", within(1, 4096));
  number("-r", options.progress_percent, "progress interval in percent, 1 to 100 (default: 5)",
         within(1, 100));
  number("-s", line.start, "first recorded time step, counted from 1 (default: 1)", within(1, any));
  number("--benchmark", line.benchmark_steps, "run N steps instead of the input's Nt", within(1, any));
  number("--verbose", options.verbosity, "0, 1 or 2 (default: 0)", within(0, 2));
  app.add_flag("--quiet", options.quiet, "print errors and warnings only")->group("Run");
  app.add_option("--wall-limit", line.wall_limit, "stop in good order after this time, such as 3600 or 55min")
      ->type_name("TIME")
      ->group("Run");
  app.add_flag("--version", line.version, "print the versions of program and libraries")->group("Run");
}

void add_record_options(CLI::App& app, CommandLine& line) {
  auto& record = line.options.record;
  for (std::size_t i = 0; i < record_items.size(); ++i) {
    const std::string name = record_items[i].name;
    const std::string flags = name == "p_raw" ? "-p,--p_raw" : name == "u_raw" ? "-u,--u_raw" : "--" + name;
    app.add_flag(flags, record.wanted[i], record_items[i].help)->group("Record (default: --p_raw)");
  }
  app.add_flag("--copy_sensor_mask", record.copy_sensor_mask, "copy the sensor mask to the output")
      ->group("Record (default: --p_raw)");
}

void add_write_options(CLI::App& app, CommandLine& line) {
  app.add_option("--write", line.write.write, "who writes: blocking, threads[:BUFFERS]")
      ->type_name("STRATEGY")
      ->group("Output");
  app.add_option("--sink", line.write.sink, "what the file is: hdf5, hdf5-chunked[:LEVEL]")
      ->type_name("SINK")
      ->group("Output");
  app.add_option("--pace", line.write.pace, "imitate a slow device, such as bandwidth=50MB/s,latency=1ms")
      ->type_name("SPEC")
      ->group("Output");
  app.add_option("--flush", line.write.flush, "none, or sample: each sample reaches the device at once")
      ->type_name("WHEN")
      ->group("Output");
  app.add_option("--fault", line.write.fault, "inject failures, such as write:every=7,seed=3")
      ->type_name("SPEC")
      ->group("Output");
}

/// Fills the options of the output: the command line goes before the case.
void apply_write(run::CaseFile& file, const output::OptionTexts& typed, output::Options& options) {
  const auto read = [&](const auto& parse) {
    try {
      parse();
    } catch (const Error& error) {
      file.add_problem("", error.info().message, error.info().hint);
    }
  };
  const auto strategy = file.text("write.strategy"), sink = file.text("write.sink"),
             flush = file.text("write.flush");
  const auto buffers = file.integer("write.buffers", {1, output::most_buffers});
  if (strategy) read([&] { output::parse_strategy("write.strategy", *strategy, options); });
  if (sink) read([&] { output::parse_sink("write.sink", *sink, options); });
  if (flush) read([&] { output::parse_flush("write.flush", *flush, options); });
  if (buffers && strategy.value_or("threads") == "threads") options.buffers = static_cast<int>(*buffers);
  if (!typed.write.empty()) read([&] { output::parse_strategy("--write", typed.write, options); });
  if (!typed.sink.empty()) read([&] { output::parse_sink("--sink", typed.sink, options); });
  if (!typed.flush.empty()) read([&] { output::parse_flush("--flush", typed.flush, options); });
  if (!typed.pace.empty()) read([&] { options.pace = output::parse_pace(typed.pace); });
  if (!typed.fault.empty()) read([&] { options.faults = output::parse_faults(typed.fault); });
}

/// Fills what the command line left open from the case, and lists what is wrong with it.
void apply_case(run::CaseFile& file, bool native_input, CommandLine& line) {
  auto& options = line.options;
  const auto simulation = file.required_text("case.simulation", "simulation = \"ultrasound\"");
  if (!simulation.empty() && simulation != "ultrasound")
    file.add_problem("case.simulation", fmt::format("\"{}\" is not what this program computes", simulation),
                     "simulation = \"ultrasound\"");
  options.title = file.text("case.title").value_or(std::filesystem::path(line.case_file).stem().string());
  file.text("input.script");  // makes the input; the launcher runs it
  options.input = file.required_file_name("input.file", "file = \"input.h5\", a k-Wave input file");
  for (std::size_t i = 0; i < record_items.size(); ++i)
    if (const auto wanted = file.boolean(fmt::format("record.{}", record_items[i].name)))
      options.record.wanted[i] = options.record.wanted[i] || *wanted;
  if (const auto copy = file.boolean("record.copy_sensor_mask"))
    options.record.copy_sensor_mask = options.record.copy_sensor_mask || *copy;
  if (const auto start = file.integer("record.start", {1}); start && line.start == 0) line.start = *start;
  if (const auto steps = file.integer("time.steps", {1}); steps && line.benchmark_steps == 0)
    line.benchmark_steps = *steps;

  apply_write(file, line.write, options.write);
  options.record.apply_default();
  for (std::size_t i = 0; i < record_items.size(); ++i)
    file.set_default(fmt::format("record.{}", record_items[i].name),
                     options.record.wanted[i] ? "true" : "false");
  file.set_default("record.copy_sensor_mask", options.record.copy_sensor_mask ? "true" : "false");
  file.set_default("record.start", fmt::format("{}", std::max<StepIndex>(line.start, 1)));
  file.set_default("write.strategy", output::strategy_text(options.write));
  file.set_default("write.buffers", fmt::format("{}", output::buffer_count(options.write)));
  file.set_default("write.sink", options.write.sink);
  file.set_default("write.flush", options.write.flush_samples ? "sample" : "none");
  file.finish();
  options.resolved = file.resolved();
  if (native_input) options.resolved["input"]["file"] = options.input;
}

run::CaseFile open_case(const CommandLine& line, bool native_input) {
  if (!native_input) return run::CaseFile::read(line.case_file, line.overrides);
  std::vector<std::string> settings{"case.simulation=ultrasound", "input.file=" + line.case_file};
  settings.insert(settings.end(), line.overrides.begin(), line.overrides.end());
  return run::CaseFile::from_overrides(line.case_file, settings);
}

void finish_case_mode(CommandLine& line) {
  auto& options = line.options;
  if (!options.input.empty() || !options.output.empty())
    throw Error(ErrorKind::usage, "--case stands for -i and -o: give one or the other");
  if (line.out_directory.empty() && !options.check_only)
    throw Error(ErrorKind::usage, "--case needs a run directory. Fix: add --out DIR");
  options.case_mode = true;
  options.case_file = std::filesystem::absolute(line.case_file).lexically_normal().string();
  options.run_directory = line.out_directory;
  options.output = (std::filesystem::path(line.out_directory) / "output.h5").string();
  const bool native_input = std::filesystem::path(line.case_file).extension() != ".toml";
  auto file = open_case(line, native_input);
  apply_case(file, native_input, line);
}

void finish_native_mode(CommandLine& line) {
  auto& options = line.options;
  if (options.input.empty()) throw Error(ErrorKind::usage, "no input file. Fix: add -i FILE");
  if (options.output.empty() && !options.check_only)
    throw Error(ErrorKind::usage, "no output file. Fix: add -o FILE");
  if (!line.overrides.empty()) throw Error(ErrorKind::usage, "--set changes a case. Fix: use it with --case");
  options.write = output::parse_options(line.write);
  options.record.apply_default();
  options.title = std::filesystem::path(options.input).stem().string();
  nlohmann::json record;
  for (std::size_t i = 0; i < record_items.size(); ++i)
    record[record_items[i].name] = options.record.wanted[i];
  record["start"] = std::max<StepIndex>(line.start, 1);
  record["copy_sensor_mask"] = options.record.copy_sensor_mask;
  options.resolved = {{"case", {{"simulation", "ultrasound"}, {"title", options.title}}},
                      {"input", {{"file", options.input}}},
                      {"record", record},
                      {"write",
                       {{"strategy", output::strategy_text(options.write)},
                        {"buffers", output::buffer_count(options.write)},
                        {"sink", options.write.sink},
                        {"flush", options.write.flush_samples ? "sample" : "none"}}}};
}

}  // namespace

std::variant<Options, Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(
      "Ultrasound in heterogeneous, absorbing, non-linear media: reads k-Wave input files, writes k-Wave "
      "output files",
      "tailrace-ultrasound");
  app.get_formatter()->column_width(34);
  add_input_options(app, line);
  add_run_options(app, line);
  add_record_options(app, line);
  add_write_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Notice{app.help()};
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, fmt::format("{}. Fix: --help lists the options", error.what()));
  }
  if (line.version) return Notice{version_text()};
  line.case_file.empty() ? finish_native_mode(line) : finish_case_mode(line);
  auto& options = line.options;
  options.command = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  options.threads = line.threads > 0 ? line.threads : default_threads();
  options.record.start = std::max<StepIndex>(line.start, 1);
  if (line.benchmark_steps > 0) options.steps = line.benchmark_steps;
  if (!line.wall_limit.empty()) options.wall_limit_s = parse_seconds(line.wall_limit, "--wall-limit");
  return options;
}

std::string version_text() {
  return fmt::format(
      "tailrace-ultrasound {}\n"
      "  k-Wave file formats 1.0, 1.1 and 1.2 (input), 1.2 (output)\n"
      "  MPI:      {}\n"
      "  HDF5:     {}\n"
      "  FFTW:     {}\n"
      "  compiler: {}\n",
      TAILRACE_VERSION, mpi::Environment::library_version(), h5::library_version(),
      std::string(fftwf_version), TAILRACE_COMPILER);
}

}  // namespace tailrace::ultrasound
