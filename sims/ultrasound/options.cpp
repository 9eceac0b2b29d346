// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "arguments.hpp"
#include "base/system.hpp"
#include "command_line.hpp"
#include "conversion.hpp"
#include "h5/file.hpp"
#include "output/core/sink.hpp"
#include "output/registry/create.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/case_schema.hpp"
#include "tailrace/run/command_line.hpp"
#include "tailrace/run/conversion.hpp"

namespace tailrace::ultrasound {

namespace {

constexpr std::int64_t max_steps = std::int64_t{1} << 40;

int default_threads() {
  // As k-Wave: OMP_NUM_THREADS, else every logical core that this process may use.
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return omp_get_max_threads();
  return omp_get_num_procs();
}

void add_input_options(OptionParser& parser, CommandLine& line) {
  auto& options = line.options;
  parser.option("-i", options.input, "k-Wave input file").type("FILE").group("Files");
  parser.option("-o", line.output, "output file").type("FILE").group("Files");
  parser.option("--case", line.case_file, "case file (.toml) or k-Wave input (.h5), instead of -i and -o")
      .type("FILE")
      .group("Files");
  parser.option("--out", line.out_directory, "run directory of --case; must not exist")
      .type("DIR")
      .group("Files");
  parser.option("--set", line.settings, "override a key of the case, such as time.steps=50")
      .type("KEY=VALUE")
      .group("Files")
      .repeated();
  parser.flag("--overwrite", line.overwrite, "an existing run directory may be used").group("Files");
  run::add_check_options(parser, line);
  parser
      .option("--run-dir", line.run_directory,
              "with -i and -o: also write run.json, progress and traces here")
      .type("DIR")
      .group("Files");
}

void add_run_options(OptionParser& parser, CommandLine& line) {
  constexpr auto any = max_steps;
  auto& options = line.options;
  const auto number = [&](const std::string& name, auto& value, const std::string& help, std::int64_t least,
                          std::int64_t most) {
    parser.option(name, value, help).within(least, most).type("N").group("Run");
  };
  number("-t", line.run.threads, "threads per rank (default: OMP_NUM_THREADS or all cores)", 1, 4096);
  number("-r", options.progress_percent, "progress interval in percent, 1 to 100 (default: 5)", 1, 100);
  number("-g", line.gpu, "the GPU that computes; where there is none the processor does", 0, 1023);
  run::add_device_option(parser, line);
  number("-s", line.start, "first recorded time step, counted from 1 (default: 1)", 1, any);
  number("--benchmark", line.benchmark_steps, "run N steps instead of the input's Nt", 1, any);
  number("--verbose", options.verbosity, "0, 1 or 2 (default: 0)", 0, 2);
  parser.flag("--quiet", line.run.quiet, "print errors and warnings only").group("Run");
  parser.option("--precision", line.precision, "float32 (default) or float64, of the whole computation")
      .type("TYPE")
      .group("Run");
  parser
      .option("--wall-limit", line.run.wall_limit,
              "stop in good order after this time, such as 3600 or 55min")
      .type("TIME")
      .group("Run");
  parser.flag("--resume", line.run.resume, "resume from the newest checkpoint in the run directory")
      .group("Run");
  run::add_schema_options(parser, line.run);
  parser.flag("--version", line.run.version, "print the versions of program and libraries").group("Run");
}

void add_checkpoint_options(OptionParser& parser, CommandLine& line) {
  constexpr auto any = max_steps;
  const std::string group = "Checkpoints";
  parser
      .option("--checkpoint_file", line.checkpoint_file,
              "where the state of an unfinished run is kept; a run resumes from it if it exists")
      .type("FILE")
      .group(group);
  parser.option("--checkpoint_interval", line.checkpoint_interval_s, "save the state and end after this time")
      .within(1, any)
      .type("SECONDS")
      .group(group);
  parser
      .option("--checkpoint_timesteps", line.checkpoint_timesteps,
              "save the state and end after so many steps")
      .within(1, any)
      .type("N")
      .group(group);
  run::add_conversion_options(parser, {kwave_format_name}, line.conversion);
}

void add_sensor_options(OptionParser& parser, CommandLine& line) {
  const std::string group = "Record (default: --p_raw)";
  auto& sensor_data = line.options.sensor_data;
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i) {
    const std::string name = sensor_quantities[i].name;
    const std::string flags = name == "p_raw" ? "-p,--p_raw" : name == "u_raw" ? "-u,--u_raw" : "--" + name;
    parser.flag(flags, sensor_data.wanted[i], sensor_quantities[i].help).group(group);
  }
  parser.flag("--copy_sensor_mask", sensor_data.copy_sensor_mask, "copy the sensor mask to the output")
      .group(group);
}

void add_write_options(OptionParser& parser, CommandLine& line) {
  run::add_write_options(parser, line.write);
  run::add_trace_option(parser, line.trace);
  parser
      .option("-c", line.deflate_level,
              "compression: 0 none (default), 1 to 9 sink hdf5-chunked with that level")
      .within(0, 9)
      .type("LEVEL")
      .group("Output");
}

/// Checks what concerns the whole command line and is made from several options.
void combine(CommandLine& line) {
  auto& options = line.options;
  if (line.deflate_level >= 0) {
    if (!line.write.sink.empty())
      throw Error(ErrorKind::usage, "-c and --sink both choose what the file is: give one or the other");
    line.write.sink = line.deflate_level == 0 ? "hdf5" : fmt::format("hdf5-chunked:{}", line.deflate_level);
  }
  const bool triggered = line.checkpoint_interval_s > 0 || line.checkpoint_timesteps > 0;
  if (triggered && line.checkpoint_file.empty())
    throw Error(ErrorKind::usage, "no file for checkpoints. Fix: add --checkpoint_file FILE");
  if (!triggered && !line.checkpoint_file.empty())
    throw Error(ErrorKind::usage,
                "--checkpoint_file without a time. Fix: add --checkpoint_interval SECONDS or "
                "--checkpoint_timesteps N");
  if (triggered) options.kwave_checkpoint = {.file = line.checkpoint_file, .interval_s = {}, .timesteps = {}};
  if (line.checkpoint_interval_s > 0)
    options.kwave_checkpoint->interval_s = static_cast<double>(line.checkpoint_interval_s);
  if (line.checkpoint_timesteps > 0) options.kwave_checkpoint->timesteps = line.checkpoint_timesteps;
  options.takes_checkpoints = !triggered;
  if (triggered) options.pause_after_s = options.kwave_checkpoint->interval_s;
  if (!line.precision.empty()) options.precision = parse_precision("--precision", line.precision);
}

/// The files of k-Wave's options. What looks like an option is one whose value was forgotten.
void check_files(const CommandLine& line) {
  const auto check = [](const char* option, const std::string& name) {
    if (name.empty() || name.starts_with("-"))
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the file name is missing. Fix: add {} FILE", option, option));
  };
  check("-i", line.options.input);
  if (line.options.runs()) check("-o", line.output);
}

/// k-Wave's option, which users of its programs on processors may have on their command lines too.
void choose_gpu(CommandLine& line) {
  if (line.gpu < 0) return;
  if (!line.device.empty())
    throw Error(ErrorKind::usage, "-g and --device both choose what computes: give one or the other");
  line.options.device = {.source = "-g", .text = fmt::format("{}", line.gpu), .or_processor = true};
}

void check_case_mode(const CommandLine& line) {
  if (!line.options.input.empty() || !line.output.empty())
    throw Error(ErrorKind::usage, "--case represents -i and -o: give one or the other");
  if (line.options.kwave_checkpoint)
    throw Error(ErrorKind::usage, "the --checkpoint options belong to -i and -o: leave them out with --case");
  if (line.out_directory.empty() && line.options.runs())
    throw Error(ErrorKind::usage, "--case needs a run directory. Fix: add --out DIR");
}

void finish_native_mode(CommandLine& line) {
  auto& options = line.options;
  if (!line.settings.empty()) throw Error(ErrorKind::usage, "--set changes a case. Fix: use it with --case");
  options.overwrite = true;
  options.run_directory = line.run_directory;
  options.write = output::parse_options(line.write);
  options.plan_only = line.write.plan;
  if (options.kwave_checkpoint) output::check_resumes(options.write);
  if (!line.trace.empty()) options.trace = trace::parse_mode("--trace", line.trace);
  options.sensor_data.complete(false);
  options.title = std::filesystem::path(options.input).stem().string();
  nlohmann::json sensor_data;
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    sensor_data[sensor_quantities[i].name] = options.sensor_data.wanted[i];
  sensor_data["start"] = std::max<StepIndex>(line.start, 1);
  sensor_data["copy_sensor_mask"] = options.sensor_data.copy_sensor_mask;
  options.resolved = {{"case", {{"simulation", "ultrasound"}, {"title", options.title}}},
                      {"input", {{"file", options.input}}},
                      {"model", {{"precision", to_string(options.precision)}}},
                      {"record", sensor_data},
                      {"write",
                       {{"strategy", output::strategy_text(options.write)},
                        {"buffers", output::buffer_count(options.write)},
                        {"sink", output::sink_text(options.write)},
                        {"flush", options.write.flush_samples ? "sample" : "none"}}},
                      {"trace", {{"mode", trace::to_string(options.trace)}}}};
}

/// Defines all options; values go to `line`, which has to outlive the parser.
void add_options(OptionParser& parser, CommandLine& line) {
  parser.keep_unknown();  // a forgotten value is reported before the word that is left over by it
  add_input_options(parser, line);
  add_run_options(parser, line);
  add_checkpoint_options(parser, line);
  add_sensor_options(parser, line);
  add_write_options(parser, line);
}

}  // namespace

const char* to_string(Precision precision) noexcept {
  return precision == Precision::float64 ? "float64" : "float32";
}

Precision parse_precision(const char* name, const std::string& text) {
  if (text == "float32") return Precision::float32;
  if (text == "float64") return Precision::float64;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("{} {}: unknown", name, text),
                        .path = {},
                        .hint = "one of float32, float64"});
}

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  line.run.threads = 0;
  auto parser = run::make_parser(program_info);
  add_options(parser, line);
  if (auto help = parser.read(resolve_arguments({argv + 1, argv + argc}, parser.forms())))
    return run::Notice{std::move(*help)};
  if (line.run.version) return run::Notice{version_text()};
  if (auto text = run::answer_schema(line.run, *program_info.schema)) return run::Notice{std::move(*text)};
  auto& options = line.options;
  options.check_only = line.check_only;
  options.conversion = run::asked_for(line.conversion);
  options.case_mode = !line.case_file.empty();
  const auto left = parser.rest();
  const bool has_unknown_option =
      std::any_of(left.begin(), left.end(), [](const auto& word) { return word.starts_with("-"); });
  if (!options.case_mode && !has_unknown_option) check_files(line);
  if (!left.empty())
    throw Error(ErrorKind::usage,
                fmt::format("not understood: {}. Fix: --help lists the options", fmt::join(left, " ")));
  combine(line);
  if (options.case_mode) check_case_mode(line);
  run::finalize(line, argc, argv, "", options);
  choose_gpu(line);
  if (options.threads == 0) options.threads = default_threads();
  options.case_mode ? apply_case(line) : finish_native_mode(line);
  options.sensor_data.start = std::max<StepIndex>(line.start, 1);
  options.steps = line.benchmark_steps;
  return std::move(options);
}

std::string version_text() {
  return fmt::format(
      "tailrace-ultrasound {}\n"
      "  k-Wave file formats 1.0, 1.1 and 1.2 (input), 1.2 (output)\n"
      "  MPI:      {}\n"
      "  HDF5:     {}\n"
      "  compiler: {}\n",
      TAILRACE_VERSION, mpi::Environment::library_version(), h5::library_version(), TAILRACE_COMPILER);
}

}  // namespace tailrace::ultrasound
