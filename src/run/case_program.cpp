// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/registry/options.hpp"
#include "output/session/session.hpp"
#include "output/strategies/io_servers.hpp"
#include "run/memory.hpp"
#include "tailrace/run/simulate.hpp"

namespace tailrace::run {

CaseProgram::CaseProgram(const ProgramInfo& info, mpi::CommView comm, const CaseOptions& options, Run& run)
    : comm_(comm),
      run_(run),
      info_(info),
      options_(options),
      ranks_(options.check_ranks > 0 ? output::ranks_that_compute(options.check_ranks, options.write)
                                     : comm.size()) {}

namespace {

/// An error of the command line that all ranks see.
Error bad_option(const std::string& what, const std::string& fix) {
  return Error(ErrorInfo{.kind = ErrorKind::usage, .message = what, .path = {}, .rank = 0, .hint = fix});
}

/// Refuses faults of ranks that there are not, writers included.
void check_faults(const output::WriteOptions& write, int ranks) {
  const bool apart = write.strategy == "ranks" || write.strategy.starts_with("spawn");
  const int processes = ranks + (apart ? write.writers : 0);
  for (const auto& fault : write.faults)
    if (fault.rank && *fault.rank >= processes)
      throw bad_option(fmt::format("--fault: there is no rank {}", *fault.rank),
                       fmt::format("a rank from 0 to {}", processes - 1));
}

}  // namespace

int CaseProgram::execute() {
  if (const auto status = instead()) return *status;
  run_.open_device();
  if (options_.check_ranks > 0 && comm_.size() > 1)
    throw bad_option("--check --ranks is for one process, which checks for all", "start it without mpirun");
  check_faults(options_.write, ranks_);
  plan();
  check_memory();  // with the buffers
  run_.check_streams(resume());
  run_.check_places(options_.output);
  if (options_.check_only) return success;
  describe_options();
  describe();
  simulation_ = make();
  run_.prepare_directory();
  const StepIndex done = run_.restore(simulation_);
  begin(done);
  auto& session = run_.open_output(options_.output, head_, simulation_bytes(), resume());
  opened(session);
  progress_.emplace(comm_, options_, done);
  const double start_s = monotonic_s();
  const auto result =
      run_.drive(simulation_, steps(done), watch_, [this](StepIndex step) { progress(step); });
  computed_s_ = monotonic_s() - start_s;
  return end(result, close(result));
}

double CaseProgram::host_bytes(int rank) const {
  return needed_bytes(rank) + run_.host_bytes_of_device(device_bytes(rank));
}

void CaseProgram::check_memory() {
  run_.check_device_memory([this](int rank) { return device_bytes(rank); }, ranks_, size());
  if (options_.check_ranks == 0)
    return run::check_memory(comm_, host_bytes(comm_.rank()) + run_.buffer_bytes(), size());
  // One process checks for all. Of a batch job it cannot know how many machines there are: each holds a rank.
  double sum = run_.buffer_bytes(), most = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const double bytes = host_bytes(rank);
    sum += bytes;
    most = std::max(most, bytes);
  }
  run::check_memory(comm_, in_batch_job() ? most : sum, size());
}

/// What the simulation has, or will have at most where it grows.
std::int64_t CaseProgram::simulation_bytes() const {
  return std::max(simulation_.memory_bytes(), static_cast<std::int64_t>(host_bytes(comm_.rank())));
}

void CaseProgram::begin(StepIndex done) {
  if (done > 0) report(fmt::format("resuming after step {} of {}\n", done, options_.steps));
}

StepSpan CaseProgram::steps(StepIndex done) const {
  return {.done = done, .last = options_.steps, .planned = options_.steps};
}

Run::Summary CaseProgram::close(const DriveResult& result) {
  return run_.close(
      result, [this](output::Session& session) { return final_fields(session); },
      [&] { return tail(result.steps_done); }, own_cells(), [&] { derive(result.steps_done); });
}

int CaseProgram::end(const DriveResult& result, const Run::Summary& summary) {
  if (summary.end.error) throw Error(*summary.end.error);
  report(end_text(summary, result.steps_done, run_.elapsed_s(), rate(result.steps_done)));
  return exit_status(summary.end.status);
}

void CaseProgram::report(const std::string& text) const {
  if (comm_.is_root() && !options_.quiet) say(stdout, text);
}

void CaseProgram::describe_options() {
  auto& account = run_.account();
  account.title = options_.title;
  account.simulation = info_.simulation;
  account.case_file = options_.case_file;
  account.command = options_.command;
  account.config = options_.resolved;
  account.versions = {{"mpi", mpi::Environment::library_version()},
                      {"hdf5", h5::library_version()},
                      {"compiler", TAILRACE_COMPILER}};
  account.threads = options_.threads;
}

int CaseProgram::convert(const checkpoint::StateFunction& state, const std::vector<ForeignFormat>& formats) {
  const auto done = run_.convert(state, *options_.conversion, formats);
  if (comm_.is_root()) say(stdout, done + '\n');
  return success;
}

std::string CaseProgram::output_text() const {
  return fmt::format("{}, {}", output::strategy_text(options_.write), output::sink_text(options_.write));
}

CaseOutputs resolve_outputs(mpi::CommView comm, const CaseOptions& options, const OutputDomain& domain) {
  CaseOutputs outputs;
  mpi::collectively(comm, [&] { outputs = CaseOutputs(options.outputs, domain, options.subject()); });
  return outputs;
}

std::optional<Notice> read_case_words(const ProgramInfo& info, CaseWords& words, int argc,
                                      const char* const* argv, CaseOptions& options) {
  auto parser = make_parser(info);
  add_case_options(parser, words);
  if (info.schema->find("exchange.transport") != nullptr) add_exchange_option(parser, words);
  if (auto notice = read_words(parser, info, words, argc, argv)) return notice;
  if (words.case_file.empty()) throw Error(ErrorKind::usage, "no case. Fix: add --case FILE.toml");
  finalize(words, argc, argv, "", options);
  return {};
}

}  // namespace tailrace::run
