// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/session.hpp"

#include <algorithm>

#include "base/system.hpp"
#include "mpi/verdict.hpp"
#include "output/core/process_placement.hpp"
#include "output/core/resumption.hpp"
#include "output/planner/auto_tuner.hpp"
#include "output/registry/create.hpp"
#include "output/registry/options.hpp"
#include "output/session/agreement.hpp"
#include "output/session/commits.hpp"
#include "output/session/output_pipeline.hpp"
#include "output/session/sampler.hpp"

namespace tailrace::output {

class Session::Impl {
 public:
  Impl(mpi::CommView comm, const std::string& path, Plan plan, const FileHead& head,
       const WriteOptions& options, trace::Log& log, SessionContext context)
      : ranks_(comm),
        comm_(ranks_.comm()),
        path_(path),
        plan_(std::move(plan)),
        options_(options),
        services_(std::move(context.services)),
        planner_(std::move(context.planner)),
        log_(log),
        sampled_(context.resume.after) {
    const auto& resume = context.resume;
    std::vector<RunningStream> streams;
    mpi::collectively(comm_, [&] {
      check_counts(options_);
      check_streams_fit(plan_, options_, resume.after);
      if (resume.after > 0) check_resumes(options_);
      shares_ = place(plan_, options_, comm_.is_root());
      streams = running_streams(plan_);
    });
    const bool automatic = options_.strategy == "auto" || planner_.plan_only;
    if (automatic) begin_auto(options_);
    if (!services_.placement)
      services_.placement = std::make_shared<const ProcessPlacement>(comm_, Trade::computes);
    place_threads();
    if (resume.after > 0) restore_reductions(streams, head, resume);
    sink_ = create_sink({.comm = comm_,
                         .path = path,
                         .plan = plan_,
                         .head = head,
                         .options = options_,
                         .resume_after = resume.after,
                         .sources = comm_.size(),
                         .writer_cpus = writer_cpus_});
    commits_ = create_commits(*sink_);
    pipeline_.emplace(*commits_, account_, log_);
    sampler_.emplace(plan_, std::move(streams), comm_.rank(), *pipeline_, log_,
                     make_device_sampler(comm_, services_, plan_),
                     make_row_places(comm_, plan_, path_, options_, resume.after));
    if (automatic) start_auto_tuner(resume.after);
    if (sink_->collective()) sampler_->count_jobs(comm_);
    add_warning(sink_->warning());
    start_writer();
  }

  ~Impl() {
    commits_->abandon();
    if (!sink_->collective()) sampler_->submit_batch();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void sample(StepIndex step, const FieldLookup& field, const RowsLookup& rows) {
    sampled_ = step;
    pipeline_->progress();
    if (auto_tuner_ && auto_tuner_->before(step, [this] { pipeline_->progress(); }))
      switch_writer(auto_tuner_->options());
    const bool flush = options_.flush_samples || (auto_tuner_ && auto_tuner_->wants_flush(step));
    if (plan_.rows(step)) {
      if (last_sample_ == 0) before_samples_ = step - 1;
      last_sample_ = step;
    }
    sampler_->take(step, field, rows, flush);
    pipeline_->keep_up(step);
    if (auto_tuner_) auto_tuner_->after(step);
  }

  void write_final(StepIndex step, const ShareFill& fill) {
    sampled_ = step;
    sampler_->write_final(step, fill);
  }

  bool progress(WriteState state, StepIndex step) {
    move();
    return pipeline_->failure() || reached(state) >= step;
  }

  StepIndex flush_all(double limit_s) {
    const auto flush_here = [&] {
      const auto mine = error_of([&] { flush_taken(sampled_); });
      commits_->finalize();
      throw_if_any(mine);
    };
    throw_if_any(ranks_.failure_of(flush_here, limit_s));
    return commits_->commit(comm_, sampled_);
  }

  void start_flush() {
    if (commits_->together()) return;
    flush_wanted_ = true;
    flushing_to_ = sampled_;
    move();
  }

  bool waits_to_flush() {
    move();
    return !pipeline_->failure() && reached(WriteState::durable) < flushing_to_;
  }

  void flush_until(StepIndex step) {
    if (commits_->together()) {
      require(flush_all(close_limit_s), step);
      return;
    }
    const auto flush_here = [&] {
      if (reached(WriteState::durable) < step || pipeline_->failure()) flush_taken(sampled_);
    };
    throw_if_any(ranks_.failure_of(flush_here, close_limit_s));
    commits_->commit(comm_, step);
  }

  [[nodiscard]] StepIndex reached(WriteState state) const noexcept {
    return state == WriteState::submitted ? sampled_ : commits_->reached(state);
  }

  [[nodiscard]] StepIndex queued_steps() const noexcept {
    return commits_->queued(before_samples_, last_sample_);
  }

  bool wait(WriteState state, StepIndex step, double limit_s) {
    if (state == WriteState::submitted) return sampled_ >= step;
    if (state == WriteState::committed || commits_->together()) return flush_all(limit_s) >= step;
    bool came = false;
    pipeline_->wait(step, [&] { came = wait_alone(state, step, monotonic_s() + limit_s); });
    return came;
  }

  void mark_committed(StepIndex step) noexcept { commits_->mark(step); }

  void switch_writer(const WriteOptions& options) {
    if (splits_samples(options) != splits_samples(options_)) refuse_switch(options);
    sampler_->submit_taken();
    pipeline_->flush_all(sampled_);
    // A failure stays, and its writer is the one to say. Nobody continues before all have flushed: a thread
    // of one rank may write for others.
    if (mpi::max(comm_, std::int64_t{pipeline_->failure() ? 1 : 0}) != 0) return;
    add_up_account();
    pipeline_->take_writer_away();
    take_strategy(options, options_);
    place_threads();
    start_writer();
  }

  [[nodiscard]] std::vector<PlannedStream> accumulator_streams(std::size_t first_dataset) const {
    return output::accumulator_streams(plan_.streams, first_dataset);
  }

  void end(StepIndex last_step, const FileTail& tail, Ending ending) {
    if (auto_tuner_) auto_tuner_->finish([this] { pipeline_->progress(); });
    const auto failure = ranks_.failure_of([&] { write_and_complete(last_step, ending); }, close_limit_s);
    if (auto_tuner_) account_.wait_s += auto_tuner_->waited_s();
    add_up_account();  // now that all have flushed: a thread of one rank may write for others
    commits_->add_costs(account_);
    const auto close_failure = error_of([&] {
      const trace::Scope scope(log_, trace::Kind::close, last_step);
      sink_->close(comm_, tail, {.steps = last_step, .complete = !failure});
    });
    for (const auto& note : sink_->notes()) add_warning(note);
    ranks_.common_failure(close_failure);
    ranks_.close();
    throw_if_any(failure);
    throw_if_any(close_failure);
  }

  void guard(const std::function<void()>& check) { pipeline_->guard(check); }

  void check_together(const std::function<void()>& check) {
    if (mpi::max(comm_, std::int64_t{pipeline_->failure().has_value()}) == 0)
      throw_if_any(ranks_.failure_of(check, close_limit_s));
  }

  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_; }
  [[nodiscard]] Sampler& sampler() noexcept { return *sampler_; }
  [[nodiscard]] std::optional<ErrorInfo> failure() const { return pipeline_->failure(); }
  [[nodiscard]] const PlanReport& plan_report() const noexcept {
    return auto_tuner_ ? auto_tuner_->report() : no_plan_;
  }
  [[nodiscard]] bool planned() const noexcept {
    return planner_.plan_only && (!auto_tuner_ || auto_tuner_->complete());
  }
  [[nodiscard]] const WriteOptions& options() const noexcept { return options_; }
  [[nodiscard]] const auto& placement() const noexcept { return services_.placement; }
  [[nodiscard]] const trace::Log* writer_log() const noexcept {
    return writer_log_.empty() ? nullptr : &writer_log_;
  }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  [[nodiscard]] const Account& account() const noexcept { return account_; }
  [[nodiscard]] double waited_s() const noexcept { return pipeline_->waited_s(); }
  [[nodiscard]] const ThreadPlacement& thread_placement() const noexcept { return thread_placement_; }

 private:
  /// Before the sink opens the file, and perhaps keeps it open or replaces it.
  void restore_reductions(std::vector<RunningStream>& streams, const FileHead& head, const Resume& resume) {
    mpi::collectively_on_root(comm_, [&] { check_resumable(path_, plan_, head, resume); });
    mpi::collectively(
        comm_, [&] { restore(streams, path_, resume); }, close_limit_s);
  }

  /// A sink that moves data between ranks goes by the number of buffers that it was made for: with it, the
  /// strategy to begin with is the one that stays.
  void start_auto_tuner(StepIndex after) {
    if (commits_->exchanges()) {
      no_plan_.automatic = true;
      no_plan_.decisions.push_back(
          {.step = after,
           .strategy = strategy_text(options_),
           .reason = "the sink moves data between ranks and stays with one strategy"});
      return;
    }
    auto_tuner_.emplace(AutoTunerContext{.comm = comm_,
                                         .plan = plan_,
                                         .options = options_,
                                         .planner = planner_,
                                         .can_spawn = services_.io_servers != nullptr,
                                         .log = log_,
                                         .meter = sink_->meter(),
                                         .free_cores = services_.placement->free_cores(),
                                         .after = after});
    take_strategy(auto_tuner_->options(), options_);  // as an earlier run has left it
    place_threads();
  }

  /// Until this rank's samples are in the state, a write has failed, or it is `end_s`. Returns whether they
  /// are.
  bool wait_alone(WriteState state, StepIndex step, double end_s) {
    bool asked = false;
    for (Backoff backoff; reached(state) < step; backoff.pause()) {
      if (pipeline_->failure() || monotonic_s() > end_s) return false;
      asked = asked || sampler_->try_to_submit_commit_mark(sampled_, state == WriteState::durable);
      move();
    }
    return true;
  }

  /// The same error on all ranks.
  [[noreturn]] void refuse_switch(const WriteOptions& options) const {
    throw Error(
        ErrorInfo{.kind = ErrorKind::usage,
                  .message = path_ + ": a session cannot change from " + strategy_text(options_) + " to " +
                             strategy_text(options) + ": the layout of its files is made for one of them",
                  .path = path_,
                  .rank = 0,
                  .hint = "begin with the strategy that puts each sample into a file of its own, or do "
                          "without it"});
  }

  /// Finds out where the writer thread runs under the strategy; the sink's, if it has one, runs there too.
  void place_threads() {
    const auto thread_placement = services_.placement->thread_placement(options_);
    writer_cpus_ = thread_placement.writing.empty() ? services_.placement->bound() : thread_placement.writing;
    // The planner's last output, written in the step, is not what the account should state.
    if (thread_placement.place != WriterPlace::none || thread_placement_.computing.empty())
      thread_placement_ = thread_placement;
  }

  void start_writer() {
    std::string warning;
    pipeline_->set_writer(create_writer({.comm = comm_,
                                         .sink = *sink_,
                                         .shares = shares_,
                                         .staging_bytes = plan_.staging_bytes(),
                                         .max_staged_extents = plan_.staged_extents_per_buffer(),
                                         .options = options_,
                                         .services = services_,
                                         .writer_cpus = writer_cpus_,
                                         .reached = commits_->own(),
                                         .log = log_,
                                         .writer_log = writer_log_,
                                         .warning = warning,
                                         .path = path_,
                                         .plan = &plan_}));
    memory_bytes_ = plan_.memory_bytes(buffer_count(options_)) + sink_->memory_bytes() +
                    pipeline_->writer().memory_bytes();
    collect_warning(warning);
  }

  /// Finds out what the writer of the lowest rank that has something to say says. @collective{comm}
  void collect_warning(const std::string& of_writer) {
    std::optional<ErrorInfo> mine;
    if (!of_writer.empty()) mine = ErrorInfo{.message = of_writer, .path = {}, .hint = {}};
    const auto reported = ranks_.common_failure(error_of([&] { mpi::agree(comm_, mine); }));
    if (reported) add_warning(reported->message);
  }

  /// On the root, and once: writers that take turns do not say it again.
  void add_warning(const std::string& text) {
    if (text.empty() || !comm_.is_root()) return;
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
  }

  /// Everything that is still to be written, and what the sink moves between ranks, whatever fails.
  void write_and_complete(StepIndex last_step, Ending ending) {
    const auto failure = error_of([&] { write_rest(last_step, ending); });
    const auto unsent = error_of([&] { pipeline_->complete(last_step); });
    throw_if_any(failure);
    throw_if_any(unsent);
  }

  /// The reductions, the commit mark and the flush to the device.
  void write_rest(StepIndex last_step, Ending ending) {
    if (pipeline_->failure()) return;
    sampler_->submit_taken();
    if (is_written(last_step)) return;
    sampler_->write_reductions(last_step, ending);
    sampler_->submit_commit_mark(last_step, true);
  }

  /// Returns whether all is on the device: a checkpoint has been waited for before it is finished.
  [[nodiscard]] bool is_written(StepIndex last_step) const {
    return !commits_->together() && !sampler_->reduces() && last_step > 0 &&
           reached(WriteState::durable) >= last_step;
  }

  /// Has the writer put all that was taken onto the device, unless it has failed.
  void flush_taken(StepIndex step) {
    if (!pipeline_->failure()) {
      sampler_->submit_taken();
      sampler_->submit_commit_mark(step, true);
    }
    pipeline_->flush_all(step);
    throw_if_any(pipeline_->failure());
  }

  /// What counts on the samples up to a step must not continue without them.
  void require(StepIndex committed, StepIndex step) const {
    if (committed >= step) return;
    throw Error(ErrorInfo{.kind = ErrorKind::internal,
                          .message = path_ + ": of the samples up to step " + std::to_string(step) +
                                     " only those up to step " + std::to_string(committed) +
                                     " are in the file",
                          .path = path_,
                          .rank = 0,
                          .hint = {}});
  }

  /// Advances whatever is on its way between processes.
  void move() {
    if (flush_wanted_ && !pipeline_->failure() && sampler_->try_to_submit_commit_mark(sampled_, true))
      flush_wanted_ = false;
    pipeline_->progress();
  }

  void add_up_account() noexcept { account_ += pipeline_->writer().account(); }

  Agreement ranks_;
  mpi::CommView comm_;
  std::string path_;
  Plan plan_;
  std::vector<const Share*> shares_;  // of the plan
  WriteOptions options_;
  SessionServices services_;
  PlannerOptions planner_;
  ThreadPlacement thread_placement_;
  Cpus writer_cpus_;
  trace::Log& log_;
  trace::Log writer_log_{"writer"};
  StepIndex sampled_;  ///< the last step that was seen
  StepIndex last_sample_ = 0,
            before_samples_ = 0;         ///< of this run: the newest sample, the step before the first
  std::optional<AutoTuner> auto_tuner_;  // of the strategy auto
  PlanReport no_plan_;                   // without one
  bool flush_wanted_ = false;            ///< as soon as a buffer is free
  StepIndex flushing_to_ = 0;            ///< says what was wanted comes up to this step
  std::int64_t memory_bytes_ = 0;
  std::vector<std::string> warnings_;  ///< on the root
  Account account_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<Commits> commits_;
  std::optional<OutputPipeline> pipeline_;  // after the sink: its writer ends before
  std::optional<Sampler> sampler_;          // after the output pipeline, to whose writer its buffer belongs
};

Session::Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head,
                 const WriteOptions& options, trace::Log& log, SessionContext context)
    : impl_(std::make_unique<Impl>(comm, path, std::move(plan), head, options, log, std::move(context))) {}

Session::~Session() = default;

void Session::sample(StepIndex step, const FieldLookup& field, const RowsLookup& rows) {
  impl_->sample(step, field, rows);
}
void Session::sample_final(StepIndex step, const FieldLookup& field) {
  impl_->sampler().take_final(step, field);
}
void Session::switch_writer(const WriteOptions& options) {
  impl_->switch_writer(options);
}
const PlanReport& Session::plan_report() const noexcept {
  return impl_->plan_report();
}
bool Session::planned() const noexcept {
  return impl_->planned();
}
StepIndex Session::reached(WriteState state) const noexcept {
  return impl_->reached(state);
}
StepIndex Session::queued_steps() const noexcept {
  return impl_->queued_steps();
}
bool Session::wait(WriteState state, StepIndex step, double limit_s) {
  return impl_->wait(state, step, limit_s);
}
void Session::mark_committed(StepIndex step) noexcept {
  impl_->mark_committed(step);
}
mpi::CommView Session::comm() const noexcept {
  return impl_->comm();
}
const WriteOptions& Session::options() const noexcept {
  return impl_->options();
}
const std::shared_ptr<const ProcessPlacement>& Session::placement() const noexcept {
  return impl_->placement();
}
void Session::guard(const std::function<void()>& check) {
  impl_->guard(check);
}
void Session::check_together(const std::function<void()>& check) {
  impl_->check_together(check);
}
std::optional<ErrorInfo> Session::failure() const {
  return impl_->failure();
}
void Session::finish(StepIndex last_step, const FileTail& tail) {
  impl_->end(last_step, tail, Ending::finished);
}
void Session::close_for_restart(StepIndex last_step, const FileTail& tail) {
  impl_->end(last_step, tail, Ending::closed_for_restart);
}
void Session::write_final(StepIndex step, const ShareFill& fill) {
  impl_->write_final(step, fill);
}
bool Session::progress(WriteState state, StepIndex step) {
  return impl_->progress(state, step);
}
void Session::start_flush() {
  impl_->start_flush();
}
bool Session::waits_to_flush() {
  return impl_->waits_to_flush();
}
void Session::flush_until(StepIndex step) {
  impl_->flush_until(step);
}
StepIndex Session::flush_all(double limit_s) {
  return impl_->flush_all(limit_s);
}
std::vector<PlannedStream> Session::accumulator_streams(std::size_t first_dataset) const {
  return impl_->accumulator_streams(first_dataset);
}
void Session::write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step) {
  impl_->sampler().write_accumulators(reductions, step);
}
std::vector<RunningReduction> Session::running_reductions() {
  return output::running_reductions(impl_->sampler().streams());
}
const Account& Session::account() const noexcept {
  return impl_->account();
}
double Session::waited_s() const noexcept {
  return impl_->waited_s();
}
const ThreadPlacement& Session::thread_placement() const noexcept {
  return impl_->thread_placement();
}
const trace::Log* Session::writer_log() const noexcept {
  return impl_->writer_log();
}
std::int64_t Session::memory_bytes() const noexcept {
  return impl_->memory_bytes();
}
const std::vector<std::string>& Session::warnings() const noexcept {
  return impl_->warnings();
}

}  // namespace tailrace::output
