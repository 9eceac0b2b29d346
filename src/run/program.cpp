// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <cstdlib>
#include <filesystem>

#include "base/memory_reserve.hpp"
#include "base/system.hpp"
#include "run/run_device.hpp"
#include "tailrace/run/case_file.hpp"
#include "tailrace/run/case_write.hpp"

namespace tailrace::run {

namespace {

namespace fs = std::filesystem;

/// The devices that the command line names, or else the environment. Errors (usage): they are no choice.
DeviceChoice device_choice(const CaseWords& words) {
  DeviceChoice choice{"--device", words.device};
  const char* const environment = std::getenv("TAILRACE_DEVICE");
  if (words.takes_device && words.device.empty() && environment != nullptr)
    choice = {"TAILRACE_DEVICE =", environment};
  device_wish(choice);
  return choice;
}

RunOptions run_options(const std::string& program, const CaseOptions& options) {
  return {.program = program,
          .directory = options.run_directory,
          .overwrite = options.overwrite,
          .wall_limit_s = options.wall_limit_s,
          .pause_after_s = options.pause_after_s,
          .write = options.write,
          .plan_only = options.plan_only,
          .reports_plan = options.reports_plan && !options.quiet,
          .checkpoint = options.takes_checkpoints ? std::optional(options.checkpoint) : std::nullopt,
          .resume = options.resume,
          .arguments = options.arguments,
          .trace = options.trace,
          .device = options.device};
}

}  // namespace

OptionParser make_parser(const ProgramInfo& info) {
  return {info.purpose, info.program(), info.footer};
}

void add_case_options(OptionParser& parser, CaseWords& words) {
  const std::string group = "Files";
  parser.option("--case", words.case_file, "case file (.toml)").type("FILE").group(group);
  parser.option("--out", words.out_directory, "run directory to make: output.h5, run.json, trace")
      .type("DIR")
      .group(group);
  parser.option("-o", words.output, "output file, alone or instead of DIR/output.h5")
      .type("FILE")
      .group(group);
  parser.option("--set", words.settings, "override a key of the case, such as time.steps=50")
      .type("KEY=VALUE")
      .group(group)
      .repeated();
  parser.flag("--overwrite", words.overwrite, "an existing run directory or output file may be replaced")
      .group(group);
  add_check_options(parser, words);
  add_write_options(parser, words.write);
  add_trace_option(parser, words.trace);
  add_run_options(parser, words.run);
}

void add_exchange_option(OptionParser& parser, CaseWords& words) {
  parser
      .option("--exchange", words.exchange,
              "transport of values between ranks, such as isend [auto: the fastest]")
      .type("NAME")
      .group("Run");
}

void add_device_option(OptionParser& parser, CaseWords& words) {
  words.takes_device = true;
  parser
      .option("--device", words.device,
              fmt::format("that computes: {} [TAILRACE_DEVICE, or none]", device::Wish::forms))
      .type("DEVICES")
      .group("Run");
}

void add_check_options(OptionParser& parser, CaseWords& words) {
  const std::string group = "Files";
  constexpr int most = 1 << 24;
  parser.flag("--check", words.check_only, "read and check everything, then stop").group(group);
  parser.option("--ranks", words.check_ranks, "with --check: on so many processes the run will be started")
      .within(1, most)
      .type("N")
      .group(group);
  parser
      .flag("--allow-outside", words.allow_outside,
            "a case may name output files outside of the run directory")
      .group(group);
}

void print_notice(const Notice& notice) noexcept {
  say(stdout, notice.text);
}

std::optional<Notice> read_words(OptionParser& parser, const ProgramInfo& info, const CaseWords& words,
                                 int argc, const char* const* argv) {
  if (auto help = parser.read(argc, argv)) return Notice{std::move(*help)};
  if (auto text = answer(words.run, parser.program())) return Notice{std::move(*text)};
  if (auto text = answer_schema(words.run, *info.schema)) return Notice{std::move(*text)};
  return {};
}

void finalize(const CaseWords& words, int argc, const char* const* argv, const std::string& fallback,
              CaseOptions& options) {
  options.check_only = words.check_only;
  options.check_ranks = words.check_ranks;
  if (words.check_ranks > 0 && !words.check_only)
    throw Error(ErrorKind::usage, "--ranks belongs to --check: the launcher decides how many a run has");
  options.conversion = asked_for(words.conversion);
  options.output = words.output;
  if (options.output.empty() && !words.out_directory.empty())
    options.output = (fs::path(words.out_directory) / "output.h5").string();
  if (options.output.empty()) options.output = fallback;
  if (options.output.empty() && options.runs())
    throw Error(ErrorKind::usage, "no place for the output. Fix: add --out DIR or -o FILE");
  if (!words.case_file.empty()) options.case_file = fs::absolute(words.case_file).lexically_normal().string();
  options.run_directory = words.out_directory;
  options.overwrite = words.overwrite;
  options.quiet = words.run.quiet;
  options.wall_limit_s = wall_limit_s(words.run);
  options.resume = words.run.resume;
  options.threads = words.run.threads;
  options.device = device_choice(words);
  options.arguments = arguments(argc, argv);
  options.command = fmt::format("{}", fmt::join(argv, argv + argc, " "));
}

CaseFile open_case(const ProgramInfo& info, const CaseWords& words,
                   const std::vector<std::string>& settings) {
  auto all = settings;
  all.insert(all.end(), words.settings.begin(), words.settings.end());
  if (!words.exchange.empty()) all.push_back(fmt::format("exchange.transport=\"{}\"", words.exchange));
  const auto subject = words.case_file.empty() ? "the command line" : words.case_file;
  auto file = settings.empty() ? CaseFile::read(words.case_file, all, *info.schema)
                               : CaseFile::from_overrides(subject, all, *info.schema);
  if (words.allow_outside) file.allow_outside();
  return file;
}

void read_case_table(CaseFile& file, const std::string& simulation, CaseOptions& options) {
  const auto given = file.text("case.simulation");
  if (given && *given != simulation)
    file.add_problem("case.simulation", fmt::format("\"{}\" is not what this program computes", *given),
                     fmt::format("simulation = \"{}\"", simulation));
  const auto name = options.case_file.empty() ? simulation : fs::path(options.case_file).stem().string();
  options.title = file.text("case.title").value_or(name);
}

void read_run_tables(CaseFile& file, const CaseWords& words, CaseOptions& options) {
  read_write(file, words.write, options.write);
  options.plan_only = words.write.plan;
  read_checkpoint(file, options.checkpoint);
  options.trace = read_trace(file, words.trace);
}

void finish_case(CaseFile& file, CaseOptions& options) {
  set_write_defaults(file, options.write);
  set_checkpoint_defaults(file, options.checkpoint);
  set_trace_default(file, options.trace);
  file.finish();
  options.resolved = file.resolved();
}

ProgressLines::ProgressLines(mpi::CommView comm, const CaseOptions& options, StepIndex done)
    : reports_(comm.is_root() && !options.quiet),
      done_(done),
      steps_(options.steps),
      started_s_(monotonic_s()),
      reported_s_(started_s_) {}

void ProgressLines::mark(StepIndex step) {
  constexpr double interval_s = 10;
  const double now_s = monotonic_s();
  if (!reports_ || now_s - reported_s_ < interval_s) return;
  reported_s_ = now_s;
  const double left_s =
      (now_s - started_s_) / static_cast<double>(step - done_) * static_cast<double>(steps_ - step);
  say(stdout, fmt::format("step {} of {}, about {:.0f} s left\n", step, steps_, left_s));
}

std::string end_text(const Run::Summary& summary, StepIndex steps_done, double elapsed_s,
                     const std::string& rate) {
  const auto& end = summary.end;
  const auto how =
      end.status == Status::stopped ? fmt::format("stopped in good order ({})", end.reason) : "finished";
  const auto hidden = summary.hidden_fraction
                          ? fmt::format(", {:.0f} % of the writing hidden", 100 * *summary.hidden_fraction)
                          : "";
  return fmt::format("{} after step {} in {:.2f} s{}; waited {:.2f} s for output{}\n", how, steps_done,
                     elapsed_s, rate, summary.wait_s, hidden);
}

int run_case(mpi::CommView world, const std::string& program, const CaseOptions& options,
             const std::function<int(mpi::CommView computing, Run& run)>& execute,
             const std::function<int(ErrorKind)>& status_of) {
  const MemoryReserve memory_reserve;
  const auto on_ranks = [&](mpi::CommView computing, output::IoServers* io_servers) {
    Run run(computing, run_options(program, options), io_servers);
    return run.guard([&] { return execute(computing, run); }, status_of);
  };
  omp_set_num_threads(options.threads);
  if (!options.runs()) return on_ranks(world, nullptr);  // no samples are written, on however many ranks
  return with_io_servers(world, program, options.write, on_ranks, status_of);
}

}  // namespace tailrace::run
