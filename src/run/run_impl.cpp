// SPDX-License-Identifier: BSD-3-Clause
#include "run/run_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/local.hpp"
#include "checkpoint/restore.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/streams.hpp"
#include "mpi/verdict.hpp"
#include "output/planner/tuning_history.hpp"
#include "output/registry/create.hpp"
#include "output/registry/options.hpp"
#include "output/session/device_sampler.hpp"
#include "run/convert_checkpoint.hpp"
#include "run/memory.hpp"
#include "run/plan_account.hpp"
#include "run/rank_account.hpp"

namespace tailrace::run {

Run::Impl::Impl(mpi::CommView comm, RunOptions options, output::IoServers* io_servers)
    : comm_(comm),
      options_(std::move(options)),
      io_servers_(io_servers),
      stop_(options_.wall_limit_s, options_.pause_after_s) {
  account_.program = options_.program;
  account_.start_s = monotonic_s();
  account_.started = iso_time_now();
  account_.strategy = output::strategy_text(options_.write);
  account_.sink = output::sink_text(options_.write);
}

void Run::Impl::warn(const std::string& message) {
  account_.warnings.push_back(message);
  if (comm_.is_root()) say(stderr, fmt::format("{}: warning: {}\n", options_.program, message));
}

void Run::Impl::open_device() {
  device_ = RunDevice(comm_, options_.device);
  if (!device_.warning().empty()) warn(device_.warning());
}

void Run::Impl::check_device_memory(const std::function<double(int rank)>& bytes, int ranks,
                                    const RunSize& size) {
  if (device_.devices() == 0) return;
  const double of_output = output::DeviceSampler::needed_bytes(plan_);
  device_bytes_ = bytes(comm_.rank()) + of_output;
  double checked = device_bytes_;
  // One process checks for all: for those that the first device serves. Of a batch job it cannot know how
  // many machines there are.
  if (ranks != comm_.size() && !in_batch_job())
    for (int rank = device_.devices(); rank < ranks; rank += device_.devices()) checked += bytes(rank);
  device_.check_memory(comm_, checked, size);
}

StepIndex Run::Impl::restore(const SimulationCalls& simulation) {
  if (!options_.resume) return 0;
  const auto step = restore_state(simulation.state);
  simulation.restored(step);
  begin_segment();
  return step;
}

StepIndex Run::Impl::restore_state(const checkpoint::StateFunction& simulation) {
  if (options_.directory.empty())
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = "--resume: there is no run directory with checkpoints",
                          .path = {},
                          .rank = 0,
                          .hint = "name it with --out, and the case with --case"});
  const double start_s = monotonic_s();
  kept_.emplace(plan_);
  const auto state = [&](checkpoint::StateArchive& archive) {
    simulation(archive);
    checkpoint::pass_reductions(archive, kept_->all());
  };
  for (const auto& warning : checkpoint::complete_from_nodes(comm_, checkpoint_directory(), options_.write))
    warn(warning);
  const auto restored = checkpoint::restore_newest(comm_, checkpoint_directory(), account_.simulation, state);
  for (const auto& warning : restored.warnings) warn(warning);
  resumed_after_ = restored.step;
  account_.restore_s = monotonic_s() - start_s;
  return restored.step;
}

std::string Run::Impl::convert(const checkpoint::StateFunction& simulation, const Conversion& conversion,
                               const std::vector<ForeignFormat>& formats) {
  return convert_checkpoint(comm_, conversion, formats,
                            {.simulation = account_.simulation,
                             .program = program(),
                             .simulation_state = simulation,
                             .plan = plan_,
                             .time_s = [this](StepIndex step) { return outputs_.time_s(step); },
                             .write = options_.write},
                            log_);
}

std::string Run::Impl::program() const {
  return fmt::format("{} {}", options_.program, TAILRACE_VERSION);
}

/// Adds what checkpoints take to the predicted memory. Returns the bytes that are to be made ready for them.
/// @collective{comm}
std::size_t Run::Impl::predict_checkpoints(const checkpoint::StateFunction& state) {
  const auto& packing = options_.checkpoint->packing;
  const auto& local = options_.checkpoint->local;
  const auto memory = checkpoint::memory_of_pipeline(comm_, state, packing, local);
  if (!local.wanted())  // of the thread that writes them
    predicted_bytes_ += trace::Recorder::memory_bytes(1, options_.trace);
  predicted_bytes_ += static_cast<std::int64_t>(memory.buffers + memory.beside);
  return memory.buffers;
}

/// Unless there is no place for them, or nobody could resume in such an output.
void Run::Impl::begin_checkpoints(StepIndex done, const checkpoint::StateFunction& state) {
  if (!options_.checkpoint || options_.directory.empty() || options_.plan_only) return;
  if (!output::can_resume(options_.write)) return;
  const auto memory = options_.checkpoint->rules.any() ? predict_checkpoints(state) : 0;
  checkpointing_.emplace(
      comm_, *options_.checkpoint,
      Checkpointing::Context{.directory = checkpoint_directory(),
                             .simulation = account_.simulation,
                             .program = program(),
                             .time_s = [this](StepIndex step) { return outputs_.time_s(step); },
                             .write = options_.write,
                             .services = {.io_servers = io_servers_, .placement = session_->placement()},
                             .from = done,
                             .buffer_memory = memory},
      log_);
}

void Run::Impl::plan(std::vector<output::Stream> streams, CaseOutputs outputs, const Box& own_box,
                     Index3 domain) {
  outputs_ = std::move(outputs);
  streams.insert(streams.end(), outputs_.streams().begin(), outputs_.streams().end());
  account_.outputs = describe_streams(streams);
  for (const auto& stream : streams) sample_times_.emplace_back(stream);
  account_.grid = domain;
  mpi::collectively(comm_, [&] { plan_ = output::make_plan(std::move(streams), own_box, domain); });
}

void Run::Impl::check_streams(const output::Resume& resume) {
  const StepIndex after = options_.resume ? std::max<StepIndex>(1, resume.after) : resume.after;
  mpi::collectively(comm_, [&] { output::check_streams_fit(plan_, options_.write, after); });
  const bool wants_checkpoints =
      options_.checkpoint && options_.checkpoint->rules.any() && !options_.plan_only;
  if (wants_checkpoints && !output::can_resume(options_.write))
    warn(fmt::format("no checkpoints are taken: a run cannot resume in an output of --sink {}",
                     options_.write.sink));
}

double Run::Impl::buffer_bytes() const {
  if (plan_.streams.empty()) return 0;
  return static_cast<double>(plan_.memory_bytes(output::buffer_count(options_.write)));
}

output::Session& Run::Impl::open_output(const std::string& path, const output::FileHead& head,
                                        std::int64_t simulation_bytes, const output::Resume& resume) {
  // Of this thread and of the writer's; of a device's kernels, halos and samples.
  const int logs = device_.device() != nullptr ? 5 : 2;
  // What libraries took to read the input, to plan transforms and, on the first messages, to exchange data,
  // they keep. None of it grows afterwards.
  predicted_bytes_ = std::max(resident_memory_bytes(), baseline_bytes_ + simulation_bytes);
  auto whole_head = head;
  counts_steps_ = outputs_.add_step_counts(whole_head);
  outputs_.add_to(whole_head);
  auto from = resume;
  if (resumed_after_ > 0) from = {.after = resumed_after_, .kept = &*kept_};
  session_ = std::make_unique<output::Session>(
      comm_, path, std::move(plan_), whole_head, options_.write, log_,
      output::SessionContext{
          .services = {.io_servers = io_servers_,
                       .device = device_.device(),
                       .device_stream =
                           device_.device() != nullptr ? device_.compute().queue->native() : nullptr},
          .planner = {.plan_only = options_.plan_only, .tuning_directory = output::tuning_directory()},
          .resume = from});
  kept_.reset();
  if (output::writes_hdf5(options_.write)) describe_grids(path);
  predicted_bytes_ += session_->memory_bytes() + trace::Recorder::memory_bytes(logs, options_.trace);
  open_io_servers();
  report_warnings();
  return *session_;
}

/// For viewers; the run does without if it cannot be written. @local
void Run::Impl::describe_grids(const std::string& path) {
  if (!comm_.is_root()) return;
  try {
    outputs_.describe_grids(path);
  } catch (const Error& error) {
    warn(error.info().message);
  }
}

DriveResult Run::Impl::drive(const SimulationCalls& simulation, const StepSpan& steps, const Watch& watch,
                             const std::function<void(StepIndex)>& after_step) {
  start_steps(steps, watch);
  if (simulation.state) begin_checkpoints(steps.done, whole_state(simulation, *session_));
  log_.add({trace::Kind::setup, 0, account_.start_s, monotonic_s(), 0});
  const auto result =
      run::drive(simulation, steps,
                 {.comm = comm_,
                  .session = *session_,
                  .stop = stop_,
                  .log = log_,
                  .watch = watch_,
                  .checkpoints = checkpointing_ ? &*checkpointing_ : nullptr,
                  .after_step =
                      [&](const DriveResult& so_far) {
                        mark_step(so_far);
                        after_step(so_far.steps_done);
                      },
                  .next_sample = [&](StepIndex step) { return next_of(sample_times_, step); },
                  .is_finite = [this](const output::FieldView& field) { return device_.is_finite(field); }});
  progress_->update("closing", result.steps_done, session_->queued_steps());
  return result;
}

void Run::Impl::start_steps(const StepSpan& steps, const Watch& watch) {
  account_.steps_planned = steps.planned;
  account_.resumed_from = steps_done_ = steps.done;
  watch_ = watch;
  progress_.emplace(comm_.is_root() ? options_.directory : "", steps.planned);
}

void Run::Impl::mark_step(const DriveResult& so_far) {
  steps_done_ = so_far.steps_done;
  progress_->update("running", steps_done_, session_->queued_steps());
  report_warnings();
  report_plan();
  if (!watch_.ends_run && so_far.not_finite_at) report_not_finite(*so_far.not_finite_at);
}

/// Warns once of a field that went wrong.
void Run::Impl::report_not_finite(StepIndex step) {
  if (std::exchange(reported_not_finite_, true)) return;
  warn(
      fmt::format("{} holds NaN or infinity at step {}: the computation is unstable", watch_.quantity, step));
}

/// Passes on what the session has had to say since the last time.
void Run::Impl::report_warnings() {
  for (const auto& warnings = session_->warnings(); reported_warnings_ < warnings.size();
       ++reported_warnings_)
    warn(warnings[reported_warnings_]);
  if (!checkpointing_) return;
  for (const auto& warnings = checkpointing_->warnings(); reported_checkpoints_ < warnings.size();
       ++reported_checkpoints_)
    warn(warnings[reported_checkpoints_]);
}

/// Prints what the planner has decided since the last time.
void Run::Impl::report_plan() {
  const auto& decisions = session_->plan_report().decisions;
  if (!comm_.is_root() || !options_.reports_plan || options_.plan_only) return;
  for (; reported_decisions_ < decisions.size(); ++reported_decisions_) {
    const auto& taken = decisions[reported_decisions_];
    if (taken.strategy != decisions[reported_decisions_ - 1].strategy)
      say(stdout, fmt::format("{}: {}\n", options_.program, describe_decision(taken)));
  }
}

std::string Run::Impl::stop_reason() const {
  return session_->planned() ? "the output is planned" : stop_.reason();
}

/// If the watched field went wrong on any rank: throws on all if that ended the run, else sees that the root
/// has warned of it. @collective{comm}
void Run::Impl::check_finite(const DriveResult& result) {
  if (!watch_.ends_run) {
    constexpr auto never = std::numeric_limits<StepIndex>::max();
    const auto first = mpi::min(comm_, result.not_finite_at.value_or(never));
    if (first != never) report_not_finite(first);
  }
  if (result.status != Status::failed) return;
  std::optional<ErrorInfo> mine;
  if (result.not_finite_at)
    mine = ErrorInfo{.kind = ErrorKind::unstable,
                     .message = fmt::format(
                         "{} holds NaN or infinity at step {} (looked at every {} steps): the computation is "
                         "unstable",
                         watch_.quantity, *result.not_finite_at, watch_.every),
                     .path = {},
                     .hint = watch_.hint};
  mpi::agree(comm_, mine);
}

Run::Summary Run::Impl::close(const DriveResult& result, const FinalFields& fields,
                              const std::function<output::FileTail()>& tail, std::int64_t cells,
                              const std::function<void()>& derive) {
  return end_with(
      result, result.status == Status::stopped ? stop_reason() : "",
      [&] {
        session_->sample_final(result.steps_done, fields(*session_));
        auto whole_tail = tail();
        outputs_.add_to(whole_tail, result.steps_done);
        if (counts_steps_) outputs_.add_step_count(whole_tail, result.steps_done);
        session_->finish(result.steps_done, whole_tail);
        check_finite(result);
        if (derive) derive();
      },
      cells);
}

Run::Summary Run::Impl::close_for_restart(const DriveResult& result,
                                          const std::function<void(output::Session&)>& save,
                                          const std::function<output::FileTail()>& tail, std::int64_t cells) {
  const bool paused = mpi::max(comm_, std::int64_t{stop_.ends_run()}) == 0;
  auto stopped = result;
  stopped.status = Status::stopped;
  auto summary = end_with(
      stopped, paused ? "paused, to be resumed" : stop_.reason(),
      [&] {
        {
          const trace::Scope scope(log_, trace::Kind::checkpoint, result.steps_done);
          save(*session_);
        }
        session_->close_for_restart(result.steps_done, tail());
        check_finite(stopped);
      },
      cells);
  summary.paused = paused && !summary.end.error;
  return summary;
}

Run::Summary Run::Impl::end_with(const DriveResult& result, const std::string& reason,
                                 const std::function<void()>& complete_output, std::int64_t cells) {
  Summary summary{
      .end = {.status = result.status, .reason = reason, .error = {}, .steps_done = result.steps_done},
      .hidden_fraction = {}};
  auto& end = summary.end;
  try {
    complete_output();
  } catch (const Error& error) {
    end.status = Status::failed;
    end.error = error.info();
  }
  report_warnings();
  warn_of_dropped();
  if (!end.error) warn_of_faults();
  try {
    write_account(end, cells);
  } catch (const Error& error) {
    if (!end.error) end.error = error.info();  // what failed first is what the user has to know
  }
  const auto& output = session_->account();
  summary.wait_s = mpi::max(comm_, output.wait_s);
  const double pack_s = samples_pack_s();
  summary.hidden_fraction =
      hidden_fraction(mpi::sum(comm_, output.wait_s + pack_s), mpi::sum(comm_, output.write_s + pack_s));
  return summary;
}

/// @collective{comm}
void Run::Impl::warn_of_dropped() {
  const auto bytes = mpi::sum(comm_, session_->account().dropped_bytes);
  if (bytes > 0)
    warn(
        fmt::format("{} of samples could not be written and were left out; {} in the output file says from "
                    "which step on",
                    human_bytes(static_cast<double>(bytes)), output::dropped_path));
}

/// Reports that a run which was to be killed has come to its end.
void Run::Impl::warn_of_faults() {
  for (const auto& fault : options_.write.faults) {
    if (fault.action != output::Fault::Action::kill) continue;
    const auto why = fault.rank ? fmt::format("rank {} has made no such write", *fault.rank)
                                : std::string("no rank has made such a write");
    warn(fmt::format("--fault kill: nothing was killed: {} (--write {} decides who writes)", why,
                     account_.strategy));
  }
}

double Run::Impl::samples_pack_s() const {
  const double of_states_s = checkpointing_ ? checkpointing_->account().pack_s : 0;
  return log_.total(trace::Kind::pack).seconds - of_states_s;
}

void Run::Impl::write_account(const RunEnd& end, std::int64_t cells) {
  if (options_.directory.empty()) return;
  if (comm_.is_root()) progress_->finish();
  account_.plan = describe_plan(session_->plan_report());
  auto mine = account_from(log_);
  mine.cells = cells;
  mine.output = session_->account();
  mine.thread_placement = session_->thread_placement();
  mine.predicted_memory_bytes = predicted_bytes_;
  mine.pack_s = samples_pack_s();
  mine.device = device_.describe();
  mine.predicted_device_memory_bytes = static_cast<std::int64_t>(device_bytes_);
  if (checkpointing_) mine.checkpoint = checkpointing_->account();
  try {
    tracing_->close();
  } catch (const Error& error) {
    account_.warnings.push_back(error.info().message);
  }
  if (io_servers_ != nullptr && comm_.is_root()) mine.writers = io_servers_->report();
  run::write_account(comm_, options_.directory, account_, end, mine);
}

/// The processes that write are there now, or could not be started: the account says who writes then.
void Run::Impl::open_io_servers() {
  if (io_servers_ == nullptr) return;
  if (tracing_ && comm_.is_root())
    io_servers_->begin_traces(options_.directory, options_.trace, tracing_->clock(), tracing_->zero_s());
  if (io_servers_->refusal().empty()) return;
  auto instead = options_.write;
  instead.strategy = output::spawn_fallback;
  account_.strategy = output::strategy_text(instead);
}

int Run::Impl::guard(const std::function<int()>& body,
                     const std::function<int(ErrorKind)>& status_of) noexcept {
  try {
    return body();
  } catch (...) {
    const auto error = describe_current_exception();
    // An error that went through a verdict names its rank and is on all ranks; any other is known here
    // alone.
    const bool shared = error.rank >= 0;
    if (!shared || comm_.is_root()) print_error(options_.program, error);
    if (!shared && tracing_) tracing_->abandon();
    if (!shared || (comm_.is_root() && session_)) write_failed_account(error);
    if (shared) return status_of(error.kind);
    mpi::Environment::abort(status_of(error.kind));
  }
}

/// Of a failure in mid-run, if there is no account yet and the directory is this run's. @local
void Run::Impl::write_failed_account(const ErrorInfo& error) const noexcept {
  std::error_code code;
  if (!tracing_ || std::filesystem::exists(options_.directory + "/run.json", code)) return;
  try {
    write_failure(options_.directory, account_, steps_done_, comm_.size(), error);
  } catch (const Error& second) {
    if (error.rank < 0)
      print_error(options_.program, second.info());  // one that all share is reported already
  }
}

}  // namespace tailrace::run
