// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "any_solver.hpp"
#include "base/system.hpp"
#include "console.hpp"
#include "conversion.hpp"
#include "device_needs.hpp"
#include "h5/file.hpp"
#include "input.hpp"
#include "intensity.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "output/session/session.hpp"
#include "output_file.hpp"
#include "segment.hpp"
#include "sensor_data.hpp"
#include "stability.hpp"
#include "tailrace/run/case_program.hpp"

namespace tailrace::ultrasound {

namespace {

constexpr int kwave_error = 1;  // k-Wave's binaries know no other

/// Exit status for an error.
int status_of(ErrorKind kind, bool case_mode) {
  return case_mode ? run::exit_status(kind) : kwave_error;
}

/// The work of a run, from the input to the closed output file, in the precision asked for.
template <class Real>
class Program final : public run::CaseProgram {
 public:
  Program(mpi::CommView comm, const Options& options, run::Run& run)
      : CaseProgram(program_info, comm, options, run),
        options_(options),
        console_(!comm.is_root() || options.quiet || !options.runs(), options.verbosity,
                 options.progress_percent),
        segment_(comm, options) {
    // k-Wave's binaries compute on with NaN and end well; what starts them may rely on it.
    watch_ = {.quantity = "p",
              .ends_run = options.case_mode,
              .hint = "a smaller time step, or a medium without extreme values"};
  }

 private:
  std::optional<int> instead() override;
  void plan() override;
  void describe() override;
  run::SimulationCalls make() override;
  void begin(StepIndex done) override { restored_ = done; }
  [[nodiscard]] output::Resume resume() const override { return segment_.resume(); }
  void opened(output::Session& session) override;
  [[nodiscard]] run::StepSpan steps(StepIndex done) const override;
  void progress(StepIndex step) override { console_.progress(step, steps_, monotonic_s() - started_s_); }
  run::Run::Summary close(const run::DriveResult& result) override;
  output::FieldLookup final_fields(output::Session& session) override;
  output::FileTail tail(StepIndex steps_done) override;
  [[nodiscard]] run::RunSize size() const override;
  [[nodiscard]] double needed_bytes(int rank) const override;
  [[nodiscard]] double device_bytes(int rank) const override;
  [[nodiscard]] std::int64_t own_cells() const override { return solver_->field("p").box.volume(); }
  int end(const run::DriveResult& result, const run::Run::Summary& summary) override;

  void load();
  void check();
  void warn();
  void check_stability(double speed_m_s);
  void check_sources(double speed_m_s);
  void make_solver();
  /// The arrays from which a run can resume.
  std::vector<StateArray> state() {
    return ArrayList::of([&](checkpoint::StateArchive& archive) { solver_->state(archive); });
  }
  /// The state in our checkpoints, which know of which input they are.
  [[nodiscard]] checkpoint::StateFunction resumable_state() {
    return [this](checkpoint::StateArchive& archive) {
      solver_->state(archive);
      checkpoint::pass_inputs(archive, options_.input, digests_);
    };
  }
  /// All arrays of k-Wave's checkpoint files: k-Wave wants the velocity gradients too, which its next step
  /// computes anew.
  ArraySource saved_arrays() {
    return [this](const ArrayUse& use) {
      solver_->with_velocity_gradients([&](const std::vector<StateArray>& gradients) {
        auto arrays = state();
        arrays.insert(arrays.end(), gradients.begin(), gradients.end());
        use(arrays);
      });
    };
  }
  [[nodiscard]] CheckpointOrigin origin() const;
  /// The device that computes, if one does.
  [[nodiscard]] std::optional<device::ComputeQueue> device() const {
    const auto queue = run_.compute_queue();
    return queue.device != nullptr ? std::optional(queue) : std::nullopt;
  }
  Intensity<Real> make_intensity(output::Session& session);
  /// Samples that a series has at a step.
  [[nodiscard]] StepIndex recorded_steps(StepIndex step) const noexcept {
    return std::max<StepIndex>(step - options_.sensor_data.start + 1, 0);
  }
  [[nodiscard]] std::int64_t intensity_bytes() const;

  const Options& options_;
  Console console_;
  Segment segment_;
  PhaseTimes times_;
  StepIndex steps_ = 0, restored_ = 0;  ///< refers to the whole run; that of a checkpoint of ours
  double started_s_ = 0;                ///< the phase that continues
  run::DriveResult result_;             ///< once the steps are done
  output::Cadence non_staggered_;       // steps at which velocities are wanted at the grid points
  Input<Real> input_;                   ///< until the solver is made
  checkpoint::InputDigests digests_;    ///< of the input
  DeviceNeeds needs_;                   ///< of a device, once the input is known
  std::unique_ptr<AnySolver<Real>> solver_;
  std::optional<Intensity<Real>> intensity_;
  Grid grid_;
  SensorMask mask_;  ///< kept only for intensities
};

/// Converts a checkpoint.
template <class Real>
std::optional<int> Program<Real>::instead() {
  if (!options_.conversion || options_.check_only) return {};
  plan();
  describe_options();
  describe();
  const auto from = origin();
  make_solver();
  return convert(resumable_state(),
                 {kwave_format(comm_, from, steps_, {state(), saved_arrays()}, options_.write)});
}

template <class Real>
void Program<Real>::plan() {
  console_.title();
  console_.options(options_, comm_.size(), device() ? &run_.compute_queue().device->info() : nullptr);
  load();
}

/// Describes what k-Wave's checkpoints repeat from an input.
template <class Real>
CheckpointOrigin Program<Real>::origin() const {
  return {.description = input_.description,
          .minor_version = input_.header.minor_version,
          .points = input_.header.grid.points};
}

/// Returns whether two names represent one file that exists.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code);
}

template <class Real>
void Program<Real>::load() {
  const double before = monotonic_s();
  console_.begin("Loading the input");
  mpi::collectively_on_root(comm_, [&] {
    if (is_same_file(options_.input, options_.output))
      throw Error(ErrorInfo{.kind = ErrorKind::usage,
                            .message = fmt::format("{}: the output would replace the input", options_.input),
                            .path = options_.input,
                            .hint = "choose another file for the output"});
  });
  input_ = read_input<Real>(comm_, options_.input,
                            {.mask = options_.sensor_data.needs_mask(),
                             .start_step = options_.sensor_data.start,
                             .steps = options_.steps > 0 ? std::optional(options_.steps) : std::nullopt,
                             .check_grid =
                                 [this](const Grid& grid) {
                                   grid_ = grid;
                                   check_memory();
                                 },
                             .check_only = options_.check_only});
  steps_ = input_.header.steps;
  digests_ = input_.digests;
  grid_ = input_.header.grid;
  if (options_.sensor_data.wants_intensity()) mask_ = input_.mask;
  check();
  if (device())
    needs_ = device_needs(input_.header.physics, input_.medium, input_.sources, non_staggered_.samples() > 0);
  times_.loading = monotonic_s() - before;
  console_.done(times_.loading);
  console_.input(input_, steps_);
}

template <class Real>
run::RunSize Program<Real>::size() const {
  const Index3& n = grid_.points;
  auto size = run::grid_size("", n);
  size.text = fmt::format("{}: Nx = {}, Ny = {}, Nz = {}", options_.input, n.x, n.y, n.z);
  return size;
}

/// Pressure, and per axis a velocity, a split density and a spectrum; for a device, what it is given.
template <class Real>
double Program<Real>::needed_bytes(int rank) const {
  if (device()) return needed_host_bytes<Real>(grid_, ranks(), rank, needs_);
  const auto arrays = static_cast<double>(1 + 3 * grid_.dimensions());
  return arrays * sizeof(Real) * static_cast<double>(grid_.box_of(rank, ranks()).volume());
}

template <class Real>
double Program<Real>::device_bytes(int rank) const {
  if (!device()) return 0;
  const bool emulated = run_.compute_queue().queue->emulation() != nullptr;
  return needed_device_bytes<Real>(grid_, ranks(), rank, needs_, emulated);
}

/// Describes what has to fit between the options and the input.
template <class Real>
void Program<Real>::check() {
  const auto& header = input_.header;
  head_ = make_file_head(input_, options_.sensor_data, comm_, options_.threads);
  std::vector<output::Stream> streams;
  run::CaseOutputs outputs;
  mpi::collectively(comm_, [&] {
    Problems problems(options_.input);
    problems.merge(check_record(options_.sensor_data, header));
    problems.throw_if_any();
    streams = make_streams(options_.sensor_data, header, input_.mask, steps_);
    auto domain = make_output_domain(header, steps_);
    for (const auto& dataset : head_.datasets) domain.taken_paths.push_back(dataset.spec.path);
    outputs = run::CaseOutputs(options_.outputs, domain, options_.case_file);
  });
  if (options_.runs()) segment_.begin(origin(), header.grid, steps_, streams);
  non_staggered_ = non_staggered_cadence(streams, outputs.streams());
  const Box own_box = header.grid.box_of(comm_.rank(), comm_.size());
  run_.plan(std::move(streams), std::move(outputs), own_box, header.grid.points);
  warn();
}

/// Warns of time steps and sources that the grid does not carry, and of points with several signals.
template <class Real>
void Program<Real>::warn() {
  const double fastest_m_s = mpi::max(comm_, input_.speeds.max_m_s),
               slowest_m_s = -mpi::max(comm_, -input_.speeds.min_m_s);
  check_stability(fastest_m_s);
  check_sources(slowest_m_s);
  for (const auto& point : input_.repeated)
    run_.warn(point +
              " is there twice, and how its signals add up depends on the mode of the source. Fix: each "
              "point once");
}

/// Warns of a time step that is too large for the fastest part of the medium.
template <class Real>
void Program<Real>::check_stability(double speed_m_s) {
  const double crossed = speed_m_s * grid_.dt_s / finest_spacing_m(grid_);
  if (crossed > 1)
    run_.warn(
        fmt::format("dt = {:.4g} s: waves of {:.6g} m/s cross {:.3g} points in a step, and what they meet "
                    "there has no effect. Fix: dt of at most {:.4g} s",
                    grid_.dt_s, speed_m_s, crossed, grid_.dt_s / crossed));
  const auto limit_s = largest_stable_dt_s(grid_, speed_m_s);
  if (!limit_s || grid_.dt_s <= *limit_s) return;
  watch_.hint = fmt::format("dt of at most {:.4g} s, or c_ref of at least {:.6g} m/s", *limit_s, speed_m_s);
  run_.warn(
      fmt::format("dt = {:.4g} s may be unstable: the sound speed reaches {:.6g} m/s, above c_ref = "
                  "{:.6g} m/s. Fix: {}",
                  grid_.dt_s, speed_m_s, grid_.c_ref_m_s, watch_.hint));
}

/// Warns of signals whose waves have fewer than two points per length, which no grid carries.
template <class Real>
void Program<Real>::check_sources(double speed_m_s) {
  double frequency_hz = 0;
  const auto look = [&](const auto& source) {
    if (source) frequency_hz = std::max(frequency_hz, source->mean_frequency_hz(grid_.dt_s));
  };
  look(input_.sources.pressure);
  look(input_.sources.transducer);
  for (const auto& source : input_.sources.velocity) look(source);
  frequency_hz = mpi::max(comm_, frequency_hz);
  const double points = speed_m_s / (frequency_hz * coarsest_spacing_m(grid_));
  if (frequency_hz == 0 || points >= 2) return;
  run_.warn(fmt::format(
      "a source's mean frequency is {:.4g} Hz: its waves have {:.2g} points per wavelength where "
      "they are slowest ({:.6g} m/s), and the grid carries 2 and more. Fix: a smaller dx, dy, dz, "
      "or signals of lower frequency",
      frequency_hz, points, speed_m_s));
}

template <class Real>
void Program<Real>::describe() {
  auto& account = run_.account();
  account.input_file = std::filesystem::absolute(options_.input).lexically_normal().string();
}

template <class Real>
run::SimulationCalls Program<Real>::make() {
  started_s_ = monotonic_s();
  console_.begin("Preparing");
  make_solver();
  solver_->rehearse();
  if (segment_.resumes()) solver_->restored(segment_.read_state(state()));
  auto calls = run::calls_of(*solver_);
  calls.state = resumable_state();
  calls.memory_bytes = [this] {
    const auto for_checkpoint = options_.kwave_checkpoint ? solver_->saved_bytes() : 0;
    return solver_->memory_bytes() + intensity_bytes() + for_checkpoint;
  };
  return calls;
}

template <class Real>
void Program<Real>::opened(output::Session& session) {
  segment_.adopt(saved_arrays(), session);
  times_.preparation = monotonic_s() - started_s_;
  console_.done(times_.preparation);
  console_.memory(run_.predicted_bytes());
  console_.start_progress(steps(restored_).done);
  started_s_ = monotonic_s();
}

/// Those of this segment.
template <class Real>
run::StepSpan Program<Real>::steps(StepIndex done) const {
  auto span = segment_.steps();
  span.done = std::max(span.done, done);
  return span;
}

/// Describes what intensities will take at the end.
template <class Real>
std::int64_t Program<Real>::intensity_bytes() const {
  if (!options_.sensor_data.wants_intensity()) return 0;
  return Intensity<Real>::bytes(grid_, grid_.planes_of(comm_.rank(), comm_.size()), recorded_steps(steps_),
                                options_.sensor_data.wants("Q_term"));
}

/// Uses the input up.
template <class Real>
void Program<Real>::make_solver() {
  auto input = std::exchange(input_, {});
  const Range planes = grid_.planes_of(comm_.rank(), comm_.size());
  Model<Real> model{.grid = grid_,
                    .physics = input.header.physics,
                    .medium = make_medium(std::move(input.medium), input.header.physics, grid_, planes),
                    .sources = std::move(input.sources),
                    .non_staggered = non_staggered_};
  solver_ = ultrasound::make_solver(comm_, std::move(model), run_.log(), device());
}

template <class Real>
run::Run::Summary Program<Real>::close(const run::DriveResult& result) {
  result_ = result;
  times_.simulation = computed_s_;
  started_s_ = monotonic_s();
  if (!segment_.stops(result)) return CaseProgram::close(result);
  const auto save = [&](output::Session& session) {
    segment_.save(result.steps_done, saved_arrays(), session);
  };
  return run_.close_for_restart(
      result, save, [&] { return tail(result.steps_done); }, own_cells());
}

template <class Real>
output::FieldLookup Program<Real>::final_fields(output::Session& session) {
  if (result_.status != run::Status::failed) mpi::collectively(comm_, [&] { solver_->complete(); });
  if (options_.sensor_data.wants_intensity()) intensity_.emplace(make_intensity(session));
  return [&](const std::string& quantity) {
    return intensity_ && intensity_->has(quantity) ? intensity_->field(quantity) : solver_->field(quantity);
  };
}

template <class Real>
output::FileTail Program<Real>::tail(StepIndex steps_done) {
  times_.finishing = monotonic_s() - started_s_;
  const std::int64_t peak = peak_memory_bytes();
  const auto largest = mpi::max(comm_, peak), total = mpi::sum(comm_, peak);
  return make_file_tail(steps_done, segment_.add_up(times_), largest, total);
}

/// The mean intensity over what was recorded.
template <class Real>
Intensity<Real> Program<Real>::make_intensity(output::Session& session) {
  StepIndex recorded = 0;
  if (result_.status != run::Status::failed && recorded_steps(result_.steps_done) > 0)
    recorded = recorded_steps(session.flush_all());
  return {comm_,
          grid_,
          mask_,
          {options_.output, recorded},
          options_.sensor_data.wants("Q_term"),
          solver_->sweeps()};
}

template <class Real>
int Program<Real>::end(const run::DriveResult& result, const run::Run::Summary& summary) {
  const auto taken = static_cast<double>(std::max<StepIndex>(result.steps_done - steps(restored_).done, 1));
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
  if (!stopped) segment_.remove();
  console_.end(stopped ? "Stopped in good order: " + end.reason : "End of computation");
  return stopped && !options_.case_mode ? kwave_error : run::exit_status(end.status);
}

/// The command line, or the exit status if the program ends with it.
std::variant<Options, int> read_options(mpi::CommView comm, int argc, const char* const* argv) {
  bool case_mode = false;
  for (int i = 1; i < argc; ++i) case_mode = case_mode || std::string(argv[i]).starts_with("--ca");
  return run::read_command_line(
      comm, [&] { return parse_options(argc, argv); },
      [&](const ErrorInfo& error) {
        if (comm.is_root()) run::print_error(program_info.program(), error);
        return status_of(error.kind, case_mode);
      });
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  auto parsed = read_options(comm, argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  auto& options = std::get<Options>(parsed);
  return run::run_case(
      comm, program_info.program(), options,
      [&](mpi::CommView computing, run::Run& run) {
        return options.precision == Precision::float64 ? Program<double>(computing, options, run).execute()
                                                       : Program<float>(computing, options, run).execute();
      },
      [&](ErrorKind kind) { return status_of(kind, options.case_mode || options.conversion.has_value()); });
}

}  // namespace tailrace::ultrasound
