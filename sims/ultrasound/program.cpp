#include "program.hpp"

#include <fftw3.h>
#include <fmt/format.h>
#include <omp.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/system.hpp"
#include "console.hpp"
#include "conversion.hpp"
#include "input.hpp"
#include "intensity.hpp"
#include "leg.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "record.hpp"
#include "solver.hpp"
#include "stability.hpp"
#include "tailrace/run/run.hpp"

namespace tailrace::ultrasound {

namespace {

constexpr const char* program_name = "tailrace-ultrasound";
constexpr int kwave_error = 1;  // k-Wave's binaries know no other

/// Exit status for an error.
int status_of(ErrorKind kind, bool case_mode) {
  return case_mode ? run::exit_status(kind) : kwave_error;
}

run::RunOptions run_options(const Options& options) {
  return {.program = program_name,
          .directory = options.run_directory,
          .overwrite = options.overwrite || !options.case_mode,
          .wall_limit_s = options.wall_limit_s,
          .pause_after_s = options.checkpoint ? options.checkpoint->interval_s : std::nullopt,
          .write = options.write,
          .tells_plan = !options.quiet,
          .checkpoint = options.checkpoint ? std::nullopt : std::optional(options.checkpoints),
          .resume = options.resume,
          .arguments = options.arguments,
          .trace = options.trace};
}

/// The work of a run, from the input to the closed output file, in the precision asked for.
template <class Real>
class Program {
 public:
  Program(mpi::CommView comm, const Options& options, run::Run& run)
      : comm_(comm),
        options_(options),
        run_(run),
        console_(!comm.is_root() || options.quiet || !options.runs(), options.verbosity,
                 options.progress_percent),
        leg_(comm, options) {}

  /// Returns the exit status. @collective
  int execute();

 private:
  Input<Real> load();
  int convert(Input<Real> input);
  void check(const Input<Real>& input);
  void check_stability(const Input<Real>& input);
  void describe();
  std::unique_ptr<Solver<Real>> prepare(Input<Real> input);
  std::unique_ptr<Solver<Real>> make_solver(Input<Real> input);
  run::DriveResult simulate(Solver<Real>& solver);
  /// What k-Wave's checkpoint files hold.
  static std::vector<StateArray> arrays_of(Solver<Real>& solver) {
    return ArrayList::of([&](checkpoint::StateArchive& archive) { solver.state(archive); });
  }
  int close(Solver<Real>& solver, const run::DriveResult& result);
  Intensity<Real> make_intensity(Solver<Real>& solver, const run::DriveResult& result,
                                 output::Session& session);
  int end(const run::Run::Summary& summary, const run::DriveResult& result);
  output::FileTail make_tail(StepIndex steps_done);
  /// Samples that a series has at a step.
  [[nodiscard]] StepIndex recorded_steps(StepIndex step) const noexcept {
    return std::max<StepIndex>(step - options_.record.start + 1, 0);
  }
  [[nodiscard]] std::int64_t intensity_bytes() const;
  /// The steps of this leg.
  [[nodiscard]] run::StepSpan steps() const noexcept {
    auto span = leg_.steps();
    span.done = std::max(span.done, restored_);
    return span;
  }

  mpi::CommView comm_;
  const Options& options_;
  run::Run& run_;
  Console console_;
  Leg leg_;
  PhaseTimes times_;
  run::Watch watch_{.quantity = "p", .hint = "a smaller time step, or a medium without extreme values"};
  StepIndex steps_ = 0, restored_ = 0;  ///< of the whole run; that of a checkpoint of ours
  output::FileHead head_;
  output::Cadence non_staggered_;  // steps at which velocities are wanted at the grid points
  Grid grid_;
  SensorMask mask_;  ///< kept only for intensities
};

template <class Real>
int Program<Real>::execute() {
  console_.title();
  console_.options(options_, comm_.size());
  Input<Real> input = load();
  if (options_.check_only) return run::success;
  if (options_.conversion) return convert(std::move(input));
  run_.prepare_directory();
  describe();
  auto solver = prepare(std::move(input));
  const auto result = simulate(*solver);
  return close(*solver, result);
}

/// What k-Wave's checkpoints repeat from an input.
template <class Real>
CheckpointOrigin origin_of(const Input<Real>& input) {
  return {.description = input.description,
          .minor_version = input.header.minor_version,
          .points = input.header.grid.points};
}

/// Instead of a run: has the state of one checkpoint written as another. Returns the exit status.
template <class Real>
int Program<Real>::convert(Input<Real> input) {
  describe();
  const auto origin = origin_of(input);
  const auto solver = make_solver(std::move(input));
  const auto done =
      run_.convert([&](checkpoint::StateArchive& archive) { solver->state(archive); }, *options_.conversion,
                   {kwave_format(comm_, origin, steps_, arrays_of(*solver), options_.write)});
  if (comm_.is_root()) say(stdout, done + '\n');
  return run::success;
}

/// Whether two names stand for one file that exists.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code);
}

template <class Real>
Input<Real> Program<Real>::load() {
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
    auto input = read_input<Real>(comm_, options_.input,
                                  {.mask = options_.record.needs_mask(),
                                   .start_step = options_.record.start,
                                   .steps = options_.steps,
                                   .check_only = options_.check_only});
    steps_ = input.header.steps;
    grid_ = input.header.grid;
    if (options_.record.wants_intensity()) mask_ = input.mask;
    check(input);
    times_.loading = monotonic_s() - before;
    console_.done(times_.loading);
    console_.input(input, steps_);
    return input;
  } catch (...) {
    console_.failed();
    throw;
  }
}

/// What has to fit between the options and the input.
template <class Real>
void Program<Real>::check(const Input<Real>& input) {
  const auto& header = input.header;
  head_ = make_file_head(input, options_.record, comm_, options_.threads);
  std::vector<output::Stream> streams;
  run::CaseOutputs outputs;
  mpi::agree_on(comm_, [&] {
    Problems problems(options_.input);
    problems.merge(check_record(options_.record, header));
    problems.throw_if_any();
    streams = make_streams(options_.record, header, input.mask, steps_);
    auto domain = make_output_domain(header, steps_);
    domain.taken_paths.emplace_back(output::record_path);
    for (const auto& dataset : head_.datasets) domain.taken_paths.push_back(dataset.spec.path);
    outputs = run::CaseOutputs(options_.outputs, domain, options_.case_file);
  });
  if (options_.runs()) leg_.begin(origin_of(input), header.grid, steps_, streams);
  non_staggered_ = non_staggered_cadence(streams, outputs.streams());
  const Box own_box = header.grid.box_of(comm_.rank(), comm_.size());
  run_.plan(std::move(streams), std::move(outputs), own_box, header.grid.points);
  if (options_.runs()) check_stability(input);
}

/// Warns of a time step that is too large for the fastest part of the medium.
template <class Real>
void Program<Real>::check_stability(const Input<Real>& input) {
  const Grid& grid = input.header.grid;
  const Range planes = grid.planes_of(comm_.rank(), comm_.size());
  const double speed_m_s = mpi::max(comm_, largest_speed_m_s(input.medium.c0, grid, planes));
  const auto limit_s = largest_stable_dt_s(grid, speed_m_s);
  if (!limit_s || grid.dt_s <= *limit_s) return;
  watch_.hint = fmt::format("dt of at most {:.4g} s, or c_ref of at least {:.6g} m/s", *limit_s, speed_m_s);
  run_.warn(
      fmt::format("dt = {:.4g} s may be unstable: the sound speed reaches {:.6g} m/s, above c_ref = "
                  "{:.6g} m/s. Fix: {}",
                  grid.dt_s, speed_m_s, grid.c_ref_m_s, watch_.hint));
}

template <class Real>
void Program<Real>::describe() {
  auto& account = run_.account();
  account.title = options_.title;
  account.simulation = "ultrasound";
  account.case_file = options_.case_file;
  account.input_file = std::filesystem::absolute(options_.input).lexically_normal().string();
  account.command = options_.command;
  account.config = options_.resolved;
  account.versions = {{"mpi", mpi::Environment::library_version()},
                      {"hdf5", h5::library_version()},
                      {"fftw", std::string(fftwf_version)},
                      {"compiler", TAILRACE_COMPILER}};
  account.threads = options_.threads;
}

/// Everything between the input and the first step.
template <class Real>
std::unique_ptr<Solver<Real>> Program<Real>::prepare(Input<Real> input) {
  const double before = monotonic_s();
  console_.begin("Preparing");
  auto solver = make_solver(std::move(input));
  solver->rehearse();
  if (leg_.resumes()) solver->restored(leg_.read_state(arrays_of(*solver)));
  restored_ = run_.restore(*solver);
  auto& session =
      run_.open_output(options_.output, head_, solver->memory_bytes() + intensity_bytes(), leg_.resume());
  leg_.adopt(arrays_of(*solver), session);
  times_.preparation = monotonic_s() - before;
  console_.done(times_.preparation);
  console_.memory(run_.predicted_bytes());
  return solver;
}

/// What intensities will take at the end.
template <class Real>
std::int64_t Program<Real>::intensity_bytes() const {
  if (!options_.record.wants_intensity()) return 0;
  return Intensity<Real>::bytes(grid_, grid_.planes_of(comm_.rank(), comm_.size()), recorded_steps(steps_),
                                options_.record.wants("Q_term"));
}

template <class Real>
std::unique_ptr<Solver<Real>> Program<Real>::make_solver(Input<Real> input) {
  const auto& header = input.header;
  const Range planes = header.grid.planes_of(comm_.rank(), comm_.size());
  Model<Real> model{.grid = header.grid,
                    .physics = header.physics,
                    .medium = make_medium(std::move(input.medium), header.physics, header.grid, planes),
                    .sources = std::move(input.sources),
                    .non_staggered = non_staggered_};
  return std::make_unique<Solver<Real>>(comm_, std::move(model), run_.log());
}

template <class Real>
run::DriveResult Program<Real>::simulate(Solver<Real>& solver) {
  // k-Wave's binaries compute on with NaN and end well; what starts them may rely on it.
  watch_.ends_run = options_.case_mode;
  console_.start_progress(steps().done);
  const double before = monotonic_s();
  const auto result = run_.drive(solver, steps(), watch_, [&](StepIndex step) {
    console_.progress(step, steps_, monotonic_s() - before);
  });
  times_.simulation = monotonic_s() - before;
  return result;
}

template <class Real>
output::FileTail Program<Real>::make_tail(StepIndex steps_done) {
  const std::int64_t peak = peak_memory_bytes();
  const auto largest = mpi::max(comm_, peak), total = mpi::sum(comm_, peak);
  return make_file_tail(steps_done, leg_.add_up(times_), largest, total);
}

template <class Real>
int Program<Real>::close(Solver<Real>& solver, const run::DriveResult& result) {
  const double before = monotonic_s();
  std::optional<Intensity<Real>> intensity;
  const auto fields = [&](output::Session& session) -> output::FieldLookup {
    if (options_.record.wants_intensity()) intensity.emplace(make_intensity(solver, result, session));
    return [&](const std::string& quantity) {
      return intensity && intensity->has(quantity) ? intensity->field(quantity) : solver.field(quantity);
    };
  };
  const auto tail = [&] {
    times_.finishing = monotonic_s() - before;
    return make_tail(result.steps_done);
  };
  const auto save = [&](output::Session& session) {
    leg_.save(result.steps_done, arrays_of(solver), session);
  };
  const std::int64_t cells = solver.field("p").box.volume();
  const auto summary =
      leg_.stops(result) ? run_.suspend(result, save, tail, cells) : run_.close(result, fields, tail, cells);
  return end(summary, result);
}

/// The mean intensity over what was recorded.
template <class Real>
Intensity<Real> Program<Real>::make_intensity(Solver<Real>& solver, const run::DriveResult& result,
                                              output::Session& session) {
  StepIndex recorded = 0;
  if (result.status != run::Status::failed && recorded_steps(result.steps_done) > 0) {
    const StepIndex readable = session.drain();
    recorded = recorded_steps(readable);
    if (readable < result.steps_done)
      run_.warn(
          fmt::format("the mean intensity covers the samples up to step {} only: the later ones were not yet "
                      "in the file when the run was stopped",
                      readable));
  }
  return {comm_, grid_, mask_, {options_.output, recorded}, options_.record.wants("Q_term"), solver.sweeps()};
}

/// Tells how the run ended; returns the exit status.
template <class Real>
int Program<Real>::end(const run::Run::Summary& summary, const run::DriveResult& result) {
  const auto taken = static_cast<double>(std::max<StepIndex>(result.steps_done - steps().done, 1));
  console_.summary(result.steps_done, times_.simulation / taken, run_.elapsed_s(), summary.wait_s,
                   summary.hidden_fraction);
  const auto& end = summary.end;
  if (end.error) {
    console_.end("Failed");
    throw Error(*end.error);
  }
  if (summary.paused) {
    console_.end(fmt::format("Paused after step {} of {}", result.steps_done, steps_));
    return run::success;
  }
  const bool stopped = end.status == run::Status::stopped;
  if (!stopped) leg_.remove();
  console_.end(stopped ? "Stopped in good order: " + end.reason : "End of computation");
  return stopped && !options_.case_mode ? kwave_error : run::exit_status(end.status);
}

/// The command line, or the exit status if the program ends with it.
std::variant<Options, int> read_options(mpi::CommView comm, int argc, const char* const* argv) {
  bool case_mode = false;
  for (int i = 1; i < argc; ++i) case_mode = case_mode || std::string(argv[i]).starts_with("--ca");
  try {
    // Every rank reads the same command line and case file and comes to the same result.
    auto parsed = parse_options(argc, argv);
    if (auto* options = std::get_if<Options>(&parsed)) return std::move(*options);
    if (comm.is_root()) say(stdout, std::get<Notice>(parsed).text);
    return run::success;
  } catch (const Error& error) {
    if (comm.is_root()) {
      if (!case_mode) say(stdout, help_text());
      run::print_error(program_name, error.info());
    }
    return status_of(error.info().kind, case_mode);
  }
}

template <class Real>
int run_with(mpi::CommView comm, const Options& options) {
  run::Run run(comm, run_options(options));
  return run.guard(
      [&] { return Program<Real>(comm, options, run).execute(); },
      [&](ErrorKind kind) { return status_of(kind, options.case_mode || options.conversion.has_value()); });
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  const auto parsed = read_options(comm, argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  auto options = std::get<Options>(parsed);
  omp_set_num_threads(options.threads);
  const auto simulate = [&](mpi::CommView computing) {
    return options.precision == Precision::float64 ? run_with<double>(computing, options)
                                                   : run_with<float>(computing, options);
  };
  if (!options.runs()) return simulate(comm);  // no samples are written, on however many ranks
  return run::with_crew(comm, program_name, options.write, simulate,
                        [&](ErrorKind kind) { return status_of(kind, options.case_mode); });
}

}  // namespace tailrace::ultrasound
