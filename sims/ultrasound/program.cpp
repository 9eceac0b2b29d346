#include "program.hpp"

#include <fftw3.h>
#include <fmt/format.h>
#include <omp.h>

#include <filesystem>
#include <optional>

#include "console.hpp"
#include "input.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "record.hpp"
#include "solver.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/run/account.hpp"
#include "tailrace/run/driver.hpp"
#include "tailrace/run/progress.hpp"
#include "tailrace/run/stop.hpp"

namespace tailrace::ultrasound {

namespace {

enum ExitStatus { success = 0, kwave_error = 1, bad_input = 2, run_failed = 3, stopped_early = 4 };

/// Exit status for an error: k-Wave's binaries know only 1.
int status_of(ErrorKind kind, bool case_mode) {
  if (!case_mode) return kwave_error;
  return kind == ErrorKind::usage || kind == ErrorKind::input ? bad_input : run_failed;
}

/// One run from the input to the closed output file.
class Run {
 public:
  Run(mpi::CommView comm, Options options)
      : comm_(comm),
        options_(std::move(options)),
        console_(!comm.is_root() || options_.quiet || options_.check_only, options_.verbosity,
                 options_.progress_percent),
        stop_(options_.wall_limit_s) {
    account_.start_s = start_s_;
    account_.started = iso_time_now();
  }

  int execute();
  /// Leaves an account of a failure that other ranks do not know of.
  void note_lone_failure(const ErrorInfo& error) const;

 private:
  Input<float> load();
  void prepare_directory();
  void describe(const Input<float>& input, const std::vector<output::Stream>& streams);
  std::unique_ptr<Solver<float>> make_solver(Input<float> input);
  std::int64_t memory_with(Solver<float>& solver) const;
  run::DriveResult simulate(Solver<float>& solver, output::Session& session);
  int close(Solver<float>& solver, output::Session& session, const run::DriveResult& result);
  void write_account(const output::Session& session, const run::RunEnd& end, std::int64_t cells);

  mpi::CommView comm_;
  Options options_;
  Console console_;
  run::StopRequest stop_;
  trace::Log log_{"main"};
  run::RunAccount account_;
  PhaseTimes times_;
  double start_s_ = monotonic_s();
  std::int64_t baseline_bytes_ = resident_memory_bytes(), predicted_bytes_ = 0;
  StepIndex steps_ = 0;
};

int Run::execute() {
  omp_set_num_threads(options_.threads);
  console_.title();
  console_.options(options_, comm_.size());
  Input<float> input = load();
  if (options_.check_only) return success;
  prepare_directory();
  const auto streams = make_streams(options_.record, input.header, input.mask, steps_);
  describe(input, streams);

  const double before = monotonic_s();
  console_.begin("Preparing");
  const auto head = make_file_head(input, options_.record, comm_, options_.threads);
  const Grid& grid = input.header.grid;
  output::Plan plan;
  mpi::agree_on(comm_, [&] {
    plan = output::make_plan(streams, grid.box_of(comm_.rank(), comm_.size()), grid.points);
  });
  auto solver = make_solver(std::move(input));
  predicted_bytes_ = memory_with(*solver);
  output::Session session(comm_, options_.output, std::move(plan), head, options_.write, log_);
  times_.preparation = monotonic_s() - before;
  console_.done(times_.preparation);
  predicted_bytes_ += session.memory_bytes();
  console_.memory(predicted_bytes_);
  if (!session.warning().empty()) {
    account_.warnings.push_back(session.warning());
    say(stderr, fmt::format("tailrace-ultrasound: warning: {}\n", session.warning()));
  }
  log_.add({trace::Kind::setup, 0, start_s_, monotonic_s(), 0});
  const auto result = simulate(*solver, session);
  return close(*solver, session, result);
}

/// Whether two names stand for one file that exists.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code);
}

Input<float> Run::load() {
  const double before = monotonic_s();
  console_.begin("Loading the input");
  try {
    mpi::agree_on_root(comm_, [&] {
      if (is_same_file(options_.input, options_.output))
        throw Error(
            ErrorInfo{.kind = ErrorKind::usage,
                      .message = fmt::format("{}: the output would replace the input", options_.input),
                      .path = options_.input,
                      .hint = "choose another file for the output"});
    });
    Input<float> input = read_input<float>(comm_, options_.input,
                                           {.mask = options_.record.needs_mask(),
                                            .start_step = options_.record.start,
                                            .steps = options_.steps,
                                            .check_only = options_.check_only});
    steps_ = input.header.steps;
    times_.loading = monotonic_s() - before;
    console_.done(times_.loading);
    console_.input(input, steps_);
    return input;
  } catch (...) {
    console_.failed();
    throw;
  }
}

/// The run directory is made only once the input is known to be good.
void Run::prepare_directory() {
  if (options_.run_directory.empty()) return;
  mpi::agree_on_root(comm_, [&] {
    namespace fs = std::filesystem;
    const fs::path directory = options_.run_directory;
    if (options_.case_mode && fs::exists(directory) && !options_.overwrite)
      throw Error(ErrorInfo{.kind = ErrorKind::usage,
                            .message = fmt::format("{}: the run directory exists", options_.run_directory),
                            .path = options_.run_directory,
                            .hint = "choose another --out, or add --overwrite"});
    std::error_code code;
    for (const char* old : {"run.json", "report.html", "progress.json"}) fs::remove(directory / old, code);
    fs::remove_all(directory / "trace", code);
    fs::create_directories(directory / "trace", code);
    if (code)
      throw Error(
          ErrorInfo{.kind = ErrorKind::usage,
                    .message = fmt::format("{}: cannot be made: {}", options_.run_directory, code.message()),
                    .path = options_.run_directory,
                    .hint = "choose a directory that you may write to"});
  });
}

void Run::describe(const Input<float>& input, const std::vector<output::Stream>& streams) {
  account_.title = options_.title;
  account_.simulation = "ultrasound";
  account_.program = "tailrace-ultrasound";
  account_.case_file = options_.case_file;
  account_.input_file = std::filesystem::absolute(options_.input).lexically_normal().string();
  account_.command = options_.command;
  account_.config = options_.resolved;
  account_.versions = {{"mpi", mpi::Environment::library_version()},
                       {"hdf5", h5::library_version()},
                       {"fftw", std::string(fftwf_version)},
                       {"compiler", TAILRACE_COMPILER}};
  account_.outputs = run::describe_streams(streams);
  account_.grid = input.header.grid.points;
  account_.steps_planned = steps_;
  account_.threads = options_.threads;
  account_.strategy = output::strategy_text(options_.write);
  account_.sink = options_.write.sink;
}

std::unique_ptr<Solver<float>> Run::make_solver(Input<float> input) {
  const auto& header = input.header;
  const Range planes = header.grid.planes_of(comm_.rank(), comm_.size());
  Model<float> model{.grid = header.grid,
                     .physics = header.physics,
                     .medium = make_medium(std::move(input.medium), header.physics, header.grid, planes),
                     .sources = std::move(input.sources)};
  return std::make_unique<Solver<float>>(comm_, std::move(model), log_);
}

/// Bytes of this process once the solver stands: its arrays, and what libraries took to read the input, to
/// plan transforms and, on the first messages, to exchange data. None of it grows afterwards.
std::int64_t Run::memory_with(Solver<float>& solver) const {
  solver.rehearse();
  return std::max(resident_memory_bytes(), baseline_bytes_ + solver.memory_bytes());
}

run::DriveResult Run::simulate(Solver<float>& solver, output::Session& session) {
  run::ProgressFile progress(comm_.is_root() ? options_.run_directory : "", steps_);
  console_.start_progress();
  const double before = monotonic_s();
  const auto after_step = [&](StepIndex step) {
    console_.progress(step, steps_, monotonic_s() - before);
    progress.update("running", step);
  };
  const auto result = run::drive(comm_, solver, session, steps_, stop_, after_step, log_);
  times_.simulation = monotonic_s() - before;
  progress.update("closing", result.steps_done);
  return result;
}

int Run::close(Solver<float>& solver, output::Session& session, const run::DriveResult& result) {
  const double before = monotonic_s();
  run::RunEnd end{.status = result.status, .reason = {}, .error = {}, .steps_done = result.steps_done};
  if (result.status == run::Status::stopped) end.reason = stop_.reason();
  const std::int64_t peak = peak_memory_bytes();
  const auto largest = mpi::max(comm_, peak), total = mpi::sum(comm_, peak);
  try {
    session.sample_final(result.steps_done,
                         [&](const std::string& quantity) { return solver.field(quantity); });
    times_.finishing = monotonic_s() - before;
    session.finish(result.steps_done, make_file_tail(result.steps_done, times_, largest, total));
  } catch (const Error& error) {
    end.status = run::Status::failed;
    end.error = error.info();
  }
  times_.finishing = monotonic_s() - before;
  try {
    write_account(session, end, solver.field("p").box.volume());
  } catch (const Error& error) {
    if (!end.error) end.error = error.info();  // what failed first is what the user has to know
  }
  const auto& counted = session.account();
  const double hidden = counted.write_s > 0 ? std::clamp(1 - counted.wait_s / counted.write_s, 0.0, 1.0) : 0;
  console_.summary(result.steps_done,
                   times_.simulation / static_cast<double>(std::max<StepIndex>(result.steps_done, 1)),
                   monotonic_s() - start_s_, counted.wait_s, hidden);
  if (end.error) {
    console_.end("Failed");
    throw Error(*end.error);
  }
  console_.end(end.status == run::Status::stopped ? "Stopped in good order: " + end.reason
                                                  : "End of computation");
  if (end.status == run::Status::stopped) return options_.case_mode ? stopped_early : kwave_error;
  return success;
}

void Run::write_account(const output::Session& session, const run::RunEnd& end, std::int64_t cells) {
  if (options_.run_directory.empty()) return;
  if (comm_.is_root()) run::ProgressFile(options_.run_directory, steps_).finish();
  auto mine = run::account_from(log_);
  mine.cells = cells;
  mine.output = session.account();
  mine.predicted_memory_bytes = predicted_bytes_;
  const double zero = mpi::min(comm_, start_s_);  // processes of one node share this clock
  std::vector<const trace::Log*> logs{&log_};
  if (session.writer_log() != nullptr) logs.push_back(session.writer_log());
  try {
    mpi::agree_on(comm_, [&] {
      trace::write_csv(fmt::format("{}/trace/rank-{:05}.csv", options_.run_directory, comm_.rank()), logs,
                       zero);
    });
  } catch (const Error& error) {
    account_.warnings.push_back(error.info().message);
  }
  run::write_account(comm_, options_.run_directory, account_, end, mine);
}

void Run::note_lone_failure(const ErrorInfo& error) const {
  if (!options_.run_directory.empty() && std::filesystem::exists(options_.run_directory))
    run::write_lone_failure(options_.run_directory, account_, error);
}

void print_error(const ErrorInfo& error) {
  const std::string where = error.rank > 0 ? fmt::format(" (rank {})", error.rank) : "";
  say(stderr, fmt::format("tailrace-ultrasound: {}{}{}\n", error.message, where,
                          error.hint.empty() ? "" : ". Fix: " + error.hint));
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  bool case_mode = false;
  for (int i = 1; i < argc; ++i) case_mode = case_mode || std::string(argv[i]).starts_with("--case");
  std::variant<Options, Notice> parsed;
  try {
    // Every rank reads the same command line and case file and comes to the same result.
    parsed = parse_options(argc, argv);
  } catch (const Error& error) {
    if (comm.is_root()) {
      if (!case_mode)
        say(stdout, "Usage: tailrace-ultrasound -i IN.h5 -o OUT.h5 [options]; --help lists them\n");
      print_error(error.info());
    }
    return status_of(error.info().kind, case_mode);
  }
  if (const auto* notice = std::get_if<Notice>(&parsed)) {
    if (comm.is_root()) say(stdout, notice->text);
    return success;
  }
  Run run(comm, std::get<Options>(std::move(parsed)));
  try {
    return run.execute();
  } catch (...) {
    const auto error = describe_current_exception();
    // An error that went through a verdict names its rank and stands on all ranks; any other is known here
    // alone.
    const bool shared = error.rank >= 0;
    if (!shared || comm.is_root()) print_error(error);
    if (shared) return status_of(error.kind, case_mode);
    run.note_lone_failure(error);
    mpi::Environment::abort(status_of(error.kind, case_mode));
  }
}

}  // namespace tailrace::ultrasound
