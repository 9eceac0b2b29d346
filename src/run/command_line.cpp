// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "output/registry/options.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::run {

namespace {

std::string version_text(const std::string& program) {
  return fmt::format("{} {}\n  MPI:      {}\n  HDF5:     {}\n  compiler: {}\n", program, TAILRACE_VERSION,
                     mpi::Environment::library_version(), h5::library_version(), TAILRACE_COMPILER);
}

/// A line per strategy: its form, what it is without a number, the forms of its sinks, with tabs between.
std::string list_text() {
  std::string text;
  for (const auto& service : output::services())
    text += fmt::format("{}\t{}\t{}\n", service.strategy, service.usual, fmt::join(service.sinks, " "));
  return text;
}

}  // namespace

void add_write_options(OptionParser& parser, output::OptionTexts& texts) {
  const auto add = [&](const char* name, std::string& text, const char* type, const std::string& help) {
    parser.option(name, text, help).type(type).group("Output");
  };
  add("--write", texts.write, "STRATEGY", "who writes: " + output::strategy_forms());
  add("--sink", texts.sink, "SINK", "what the file is: " + output::sink_forms());
  add("--pace", texts.pace, "SPEC", "imitate a slow device, such as bandwidth=50MB/s,latency=1ms");
  add("--flush", texts.flush, "WHEN", "none, or sample: each sample reaches the device at once");
  add("--directories", texts.directories, "DIR,DIR", "put the values of the samples there, in stripes");
  add("--stripe", texts.stripe, "SIZE", "of these stripes, such as 16MiB [4MiB]");
  add("--lustre-count", texts.lustre_count, "N", "stripes of the output file on Lustre");
  add("--lustre-size", texts.lustre_size, "SIZE", "of each of these stripes, such as 4MiB");
  parser
      .flag("--plan", texts.plan, "measure the first outputs, predict the run under each strategy, and stop")
      .group("Output");
  add("--bind", texts.bind, "HOW",
      "auto: writer threads run where nobody computes (default); none: wherever the system likes");
  add("--fault", texts.fault, "SPEC", "inject failures, such as write:every=7,seed=3");
}

void add_trace_option(OptionParser& parser, std::string& text) {
  parser.option("--trace", text, "in the run directory: off, on (default), papi: hardware counters too")
      .type("MODE")
      .group("Output");
}

void add_schema_options(OptionParser& parser, RunWords& words) {
  parser.flag("--case-template", words.case_template, "print a case with all keys").group("Run");
  parser.flag("--case-schema", words.case_schema, "print the JSON schema of a case").group("Run");
}

void add_run_options(OptionParser& parser, RunWords& words) {
  constexpr int max_threads = 4096;
  words.threads = std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : 1;
  parser.option("-t", words.threads, "threads per rank (default: OMP_NUM_THREADS or 1)")
      .within(1, max_threads)
      .type("N")
      .group("Run");
  parser.option("--wall-limit", words.wall_limit, "stop in good order after this time, such as 3600 or 55min")
      .type("TIME")
      .group("Run");
  parser.flag("--resume", words.resume, "resume from the newest checkpoint in the run directory")
      .group("Run");
  parser.flag("--quiet", words.quiet, "print errors and warnings only").group("Run");
  parser.flag("--version", words.version, "print the versions of program and libraries").group("Run");
  parser.flag("--list", words.list, "print the strategies, each with the sinks it serves").group("Run");
  add_schema_options(parser, words);
}

std::optional<std::string> answer(const RunWords& words, const std::string& program) {
  if (words.version) return version_text(program);
  if (words.list) return list_text();
  return {};
}

std::optional<std::string> answer_schema(const RunWords& words, const CaseSchema& schema) {
  if (words.case_template) return case_template(schema);
  if (words.case_schema) return json_schema(schema).dump(1) + "\n";
  return {};
}

std::vector<std::string> arguments(int argc, const char* const* argv) {
  return {argv + std::min(argc, 1), argv + argc};
}

std::optional<double> wall_limit_s(const RunWords& words) {
  if (words.wall_limit.empty()) return {};
  return parse_seconds(words.wall_limit, "--wall-limit");
}

}  // namespace tailrace::run
