#include "tailrace/output/session.hpp"

#include <algorithm>
#include <cstring>

#include "pilot.hpp"
#include "resume.hpp"
#include "running_stream.hpp"
#include "seats.hpp"
#include "tailrace/base/check.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/output/pack.hpp"

namespace tailrace::output {

namespace {

/// What becomes of the reductions when a file is closed.
enum class Ending { finished, suspended };

}  // namespace

class Session::Impl {
 public:
  Impl(mpi::CommView comm, const std::string& path, Plan plan, const FileHead& head, const Options& options,
       trace::Log& log, const Resume& resume)
      : comm_(mpi::Comm::duplicate(comm)),
        path_(path),
        plan_(std::move(plan)),
        pieces_((number_pieces(plan_), pieces_of(plan_))),
        options_(options),
        log_(log),
        sampled_(resume.after) {
    mpi::agree_on(comm_, [&] {
      check_policies(plan_, options_, resume.after);
      check_growth(plan_, options_);
      if (resume.after > 0) check_resumes(options_);
      std::size_t datasets = 0;
      for (const auto& stream : plan_.streams) {
        streams_.emplace_back(stream, datasets);
        datasets += stream.datasets.size();
      }
    });
    const bool automatic = options_.strategy == "auto" || options_.plan_only;
    if (automatic) begin_auto(options_);
    if (!options_.seats) options_.seats = std::make_shared<const Seats>(comm_, Trade::computes);
    take_seat();
    // Before the sink opens the file, and perhaps keeps it open or replaces it.
    if (resume.after > 0) {
      mpi::agree_on_root(comm_, [&] { check_resumable(path, plan_, head, resume); });
      mpi::agree_on(
          comm_, [&] { restore(streams_, path, resume); }, close_limit_s);
    }
    sink_ = create_sink({.comm = comm_,
                         .path = path,
                         .plan = plan_,
                         .head = head,
                         .options = options_,
                         .resume_after = resume.after,
                         .sources = comm_.view().size()});
    exchange_ = sink_->exchange();
    if (automatic) start_pilot(resume.after);
    if (sink_->collective()) count_jobs();
    add_warning(sink_->warning());
    start_writer();
  }

  ~Impl() {
    if (exchange_ != nullptr) exchange_->abandon();
    if (gathering_ && !sink_->collective()) writer_->submit(std::move(*gathering_));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void sample(StepIndex step, const FieldLookup& field, const RecordsLookup& records) {
    sampled_ = step;
    writer_->progress();
    if (pilot_ && pilot_->before(step, [this] { writer_->progress(); })) switch_writer(pilot_->options());
    if (!writer_->failure()) take_due(step, field, records);
    if (exchange_ != nullptr) keep_up(step);
    if (pilot_) pilot_->after(step);
  }

  void sample_final(StepIndex step, const FieldLookup& field) {
    for (auto& stream : streams_)
      if (stream.is_final() && stream.taken_at != step) take_final(stream, step, field);
  }

  void write_final(StepIndex step, const PieceFill& fill) {
    sampled_ = step;
    for (auto& stream : streams_)
      if (stream.is_final()) take_final(stream, step, fill);
    submit_record(step, true);
  }

  bool progress(WriteState state, StepIndex step) {
    move();
    return writer_->failure() || reached(state) >= step;
  }

  StepIndex drain(double limit_s) {
    const auto drain_here = [&] {
      const auto mine = error_of([&] { flush_taken(sampled_); });
      if (exchange_ != nullptr) exchange_->settle();  // before any wait for ranks that depend on this one
      if (mine) throw Error(*mine);
    };
    const auto failure = shared_failure(drain_here, limit_s);
    if (failure && failure->rank < 0) give_up(*failure);
    if (failure) throw Error(*failure);
    if (exchange_ == nullptr) sink_->publish(comm_, sampled_);
    committed_ = exchange_ != nullptr ? std::min(sampled_, exchange_->commit()) : sampled_;
    return committed_;
  }

  void start_drain() {
    if (together()) return;
    drain_wanted_ = true;
    draining_to_ = sampled_;
    move();
  }

  bool waits_to_drain() {
    move();
    return !writer_->failure() && reached_.durable() < draining_to_;
  }

  void drain_until(StepIndex step) {
    if (together()) {
      drain(close_limit_s);
      return;
    }
    const auto drain_here = [&] {
      if (reached_.durable() < step || writer_->failure()) flush_taken(sampled_);
    };
    const auto failure = shared_failure(drain_here, close_limit_s);
    if (failure && failure->rank < 0) give_up(*failure);
    if (failure) throw Error(*failure);
    sink_->publish(comm_, step);
    note_committed(step);
  }

  [[nodiscard]] StepIndex reached(WriteState state) const noexcept {
    if (state == WriteState::submitted) return sampled_;
    if (state == WriteState::committed || exchange_ != nullptr) return committed_;
    return state == WriteState::written ? reached_.written() : reached_.durable();
  }

  bool wait(WriteState state, StepIndex step, double limit_s) {
    if (state == WriteState::submitted) return sampled_ >= step;
    if (state == WriteState::committed || together()) return drain(limit_s) >= step;
    trace::Scope scope(log_, trace::Kind::output_wait, step);
    const bool came = wait_alone(state, step, monotonic_s() + limit_s);
    account_.wait_s += scope.stop();
    return came;
  }

  void note_committed(StepIndex step) noexcept { committed_ = std::max(committed_, step); }

  void switch_writer(const Options& options) {
    if (splits_samples(options) != splits_samples(options_)) refuse_switch(options);
    submit_gathered();
    trace::Scope scope(log_, trace::Kind::output_wait, sampled_);
    wait_for_writer();
    account_.wait_s += scope.stop();
    // A failure stays, and its writer is the one to tell. Nobody goes on before all have drained: a thread of
    // one rank may write for others.
    if (mpi::max(comm_, std::int64_t{writer_->failure() ? 1 : 0}) != 0) return;
    add_up_account();
    writer_.reset();
    options_.strategy = options.strategy;
    options_.buffers = options.buffers;
    options_.group = options.group;
    options_.writers = options.writers;
    options_.send_waits = options.send_waits;
    take_seat();
    start_writer();
  }

  void write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step) {
    auto first = streams_.end();
    for (std::size_t left = reductions.size(); left > 0;) left -= (--first)->planned->datasets.size();
    const auto fill = [&](const Piece& piece, std::int64_t begin, std::int64_t, std::span<std::byte> out) {
      const auto& values = reductions[piece.dataset - first->first_dataset].values;
      std::memcpy(out.data(), values.data() + static_cast<std::size_t>(begin) * h5::size_bytes(piece.type),
                  out.size());
    };
    for (auto stream = first; stream != streams_.end(); ++stream) take_final(*stream, step, PieceFill(fill));
  }

  [[nodiscard]] std::vector<PlannedStream> accumulator_streams(std::size_t first_dataset) const {
    return output::accumulator_streams(plan_.streams, first_dataset);
  }

  [[nodiscard]] std::vector<RunningReduction> running_reductions() {
    return output::running_reductions(streams_);
  }

  void end(StepIndex last_step, const FileTail& tail, Ending ending) {
    if (pilot_) pilot_->finish([this] { writer_->progress(); });
    const auto failure = shared_failure([&] { write_and_complete(last_step, ending); }, close_limit_s);
    if (failure && failure->rank < 0) give_up(*failure);
    if (pilot_) account_.wait_s += pilot_->waited_s();
    add_up_account();  // now that all have drained: a thread of one rank may write for others
    add_up_exchange();
    const auto close_failure = error_of([&] {
      const trace::Scope scope(log_, trace::Kind::close, last_step);
      sink_->close(comm_, tail, {.steps = last_step, .complete = !failure});
    });
    for (const auto& note : sink_->notes()) add_warning(note);
    if (close_failure && close_failure->rank < 0) give_up(*close_failure);
    comm_.close();
    if (failure) throw Error(*failure);
    if (close_failure) throw Error(*close_failure);
  }

  [[nodiscard]] std::optional<ErrorInfo> failure() const { return writer_->failure(); }
  [[nodiscard]] const PlanReport& plan_report() const noexcept {
    return pilot_ ? pilot_->report() : no_plan_;
  }
  [[nodiscard]] bool planned() const noexcept {
    return options_.plan_only && (!pilot_ || pilot_->complete());
  }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const trace::Log* writer_log() const noexcept {
    return writer_log_.empty() ? nullptr : &writer_log_;
  }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  [[nodiscard]] const Account& account() const noexcept { return account_; }
  [[nodiscard]] const Seat& seat() const noexcept { return seat_; }

 private:
  /// Whether samples get onto the device only when all ranks see to it.
  [[nodiscard]] bool together() const { return exchange_ != nullptr || sink_->collective(); }

  /// A sink that moves data between ranks goes by the number of buffers that it was made for: with it, the
  /// strategy to begin with is the one that stays.
  void start_pilot(StepIndex after) {
    if (exchange_ != nullptr) {
      no_plan_.automatic = true;
      no_plan_.decisions.push_back(
          {.step = after,
           .strategy = strategy_text(options_),
           .reason = "the sink moves data between ranks and stays with one strategy"});
      return;
    }
    pilot_.emplace(PilotContext{.comm = comm_,
                                .plan = plan_,
                                .options = options_,
                                .log = log_,
                                .meter = sink_->meter(),
                                .free_cores = options_.seats->free_cores(),
                                .after = after});
  }

  /// Until this rank's samples are in the state, a write has failed, or it is `end_s`. Returns whether they
  /// are.
  bool wait_alone(WriteState state, StepIndex step, double end_s) {
    bool asked = false;
    for (Backoff backoff; reached(state) < step; backoff.pause()) {
      if (writer_->failure() || monotonic_s() > end_s) return false;
      asked = asked || try_to_submit_record(state == WriteState::durable);
      move();
    }
    return true;
  }

  /// The same error on all ranks.
  [[noreturn]] void refuse_switch(const Options& options) const {
    throw Error(
        ErrorInfo{.kind = ErrorKind::usage,
                  .message = path_ + ": a session cannot change from " + strategy_text(options_) + " to " +
                             strategy_text(options) + ": the layout of its files is made for one of them",
                  .path = path_,
                  .rank = 0,
                  .hint = "begin with the strategy that puts each sample into a file of its own, or do "
                          "without it"});
  }

  /// Where the writer thread runs under the strategy; the sink's, if it has one, runs there too.
  void take_seat() {
    const auto seat = options_.seats->seat(options_);
    options_.writer_cpus = seat.writing.empty() ? options_.seats->bound() : seat.writing;
    // The planner's last output, written in the step, is not what the account should tell of.
    if (seat.place != WriterPlace::none || seat_.computing.empty()) seat_ = seat;
  }

  void start_writer() {
    std::string warning;
    writer_ = create_writer({.comm = comm_,
                             .sink = *sink_,
                             .pieces = pieces_,
                             .staging_bytes = plan_.staging_bytes(),
                             .most_slices = plan_.slices_per_buffer(),
                             .options = options_,
                             .reached = reached_,
                             .log = log_,
                             .writer_log = writer_log_,
                             .warning = warning,
                             .path = path_,
                             .plan = &plan_});
    memory_bytes_ =
        plan_.memory_bytes(buffer_count(options_)) + sink_->memory_bytes() + writer_->memory_bytes();
    collect_warning(warning);
  }

  /// What the writer of the lowest rank that has something to say says. @collective{comm}
  void collect_warning(const std::string& of_writer) {
    std::optional<ErrorInfo> mine;
    if (!of_writer.empty()) mine = ErrorInfo{.message = of_writer, .path = {}, .hint = {}};
    const auto told = error_of([&] { mpi::agree(comm_, mine); });
    if (told && told->rank < 0) give_up(*told);
    if (told) add_warning(told->message);
  }

  /// On the root, and once: writers that take turns do not say it again.
  void add_warning(const std::string& text) {
    if (text.empty() || !comm_.view().is_root()) return;
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
  }

  template <class Action>
  static std::optional<ErrorInfo> error_of(const Action& action) {
    try {
      action();
    } catch (...) {
      return describe_current_exception();
    }
    return {};
  }

  /// The ranks could not agree in time. Messages are still pending on the communicator, which can never be
  /// freed then.
  [[noreturn]] void give_up(const ErrorInfo& error) {
    static_cast<void>(new mpi::Comm(std::move(comm_)));  // NOLINT: left to the end of the process on purpose
    throw Error(error);
  }

  /// Runs `action`; what failed there or in a writer at any time on any rank is the failure of all.
  /// @collective{comm}
  template <class Action>
  std::optional<ErrorInfo> shared_failure(const Action& action, double limit_s) {
    const auto mine = error_of(action);
    return error_of([&] { mpi::agree(comm_, mine, limit_s); });
  }

  void take_due(StepIndex step, const FieldLookup& field, const RecordsLookup& records) {
    if (writer_->idle()) submit_gathered();
    accumulate(step, field);
    if (plan_.records(step)) take_samples(step, field, records);
    bool has_final = false;
    for (auto& stream : streams_) {
      if (!stream.is_final() || step != stream.planned->cadence.last) continue;
      take_final(stream, step, field);
      has_final = true;
    }
    if (has_final) submit_record(step);
  }

  /// Waits while other ranks depend on this one to take in their samples.
  void keep_up(StepIndex step) {
    if (exchange_->keeps_up(step)) return;
    trace::Scope scope(log_, trace::Kind::output_wait, step);
    for (Backoff backoff; !exchange_->keeps_up(step);) backoff.pause();
    account_.wait_s += scope.stop();
    ++account_.waits;
  }

  void accumulate(StepIndex step, const FieldLookup& field) {
    for (auto& stream : streams_) {
      if (!stream.accumulates() || !stream.planned->cadence.is_due(step)) continue;
      ++stream.samples;
      if (stream.accumulators.empty()) continue;
      const trace::Scope scope(log_, trace::Kind::pack, step, stream.planned->sample_bytes());
      const FieldView view = field_of(*stream.planned, field);
      for (auto& accumulator : stream.accumulators) accumulator.add(view, plan_.own_box);
    }
  }

  /// Puts the samples of a step into the buffer that is being filled. It leaves as soon as the writer has
  /// nothing else to do or the next step would not fit: while the writer is busy, small samples are gathered
  /// to larger writes.
  void take_samples(StepIndex step, const FieldLookup& field, const RecordsLookup& records) {
    if (!gathering_) gathering_.emplace(acquire(step));
    pack_samples(step, field, **gathering_);
    take_records(step, records, **gathering_);
    const auto next = static_cast<std::size_t>(plan_.step_bytes());
    const bool full = (*gathering_)->room() < next ||
                      (*gathering_)->slices.size() + pieces_.size() > plan_.slices_per_buffer();
    // Others may wait for what is to be moved.
    if (exchange_ != nullptr || next == 0 || full || !writer_->gathers() || writer_->idle())
      submit_gathered();
  }

  void submit_gathered() {
    if (gathering_) writer_->submit(std::move(*gathering_));
    gathering_.reset();
  }

  void pack_samples(StepIndex step, const FieldLookup& field, Staging& job) {
    const trace::Scope scope(log_, trace::Kind::pack, step);
    for (const auto& stream : streams_) {
      const auto& planned = *stream.planned;
      if (!stream.unreduced() || !planned.cadence.is_due(step) || planned.pieces.empty()) continue;
      const FieldView view = field_of(planned, field);
      const StepIndex number = planned.cadence.samples_until(step) - 1;
      for (const auto& piece : planned.pieces)
        pack(view, piece, plan_.own_box, 0, piece.values, job.add(piece, number, 0, piece.values));
    }
    job.step = step;
    job.record = step;
    job.flush = job.flush || options_.flush_samples || (pilot_ && pilot_->wants_flush(step));
  }

  void take_records(StepIndex step, const RecordsLookup& records, Staging& job) {
    for (const auto& stream : streams_) {
      const auto& planned = *stream.planned;
      if (!planned.takes_records() || !planned.cadence.is_due(step)) continue;
      const RecordsView view = records(planned.quantity);
      const auto bytes = static_cast<std::size_t>(view.count * planned.record_bytes());
      const trace::Scope scope(log_, trace::Kind::pack, step, static_cast<std::int64_t>(bytes));
      if (bytes > 0)
        job.add_records(stream.first_dataset, planned.cadence.samples_until(step) - 1,
                        {static_cast<const std::byte*>(view.data), bytes});
    }
  }

  void take_final(RunningStream& stream, StepIndex step, const FieldLookup& field) {
    const bool has_values = !stream.planned->pieces.empty();
    const FieldView view = has_values ? field_of(*stream.planned, field) : FieldView{};
    take_final(
        stream, step,
        PieceFill([&](const Piece& piece, std::int64_t first, std::int64_t count, std::span<std::byte> out) {
          pack(view, piece, plan_.own_box, first, count, out);
        }));
  }

  void take_final(RunningStream& stream, StepIndex step, const PieceFill& fill) {
    submit_gathered();
    stream.taken_at = step;
    for (const auto& piece : stream.planned->pieces)
      submit_in_portions(piece, step, [&](std::int64_t first, std::int64_t count, std::span<std::byte> out) {
        fill(piece, first, count, out);
      });
    submit_missing(stream, step);
  }

  /// Values of a piece that one buffer holds.
  [[nodiscard]] std::int64_t portion_of(const Piece& piece) const {
    return static_cast<std::int64_t>(static_cast<std::size_t>(plan_.staging_bytes()) /
                                     h5::size_bytes(piece.type));
  }

  /// Jobs by which this rank writes one value per point of a stream.
  [[nodiscard]] std::int64_t own_jobs(const PlannedStream& stream) const {
    std::int64_t jobs = 0;
    for (const auto& piece : stream.pieces) jobs += (piece.values - 1) / portion_of(piece) + 1;
    return jobs;
  }

  /// The jobs of the reductions that all ranks take part in. @collective{comm}
  void count_jobs() {
    for (auto& stream : streams_)
      if (!stream.unreduced()) stream.jobs = mpi::max(comm_, own_jobs(*stream.planned));
  }

  /// Jobs without values, where the sink wants as many of all ranks.
  void submit_missing(const RunningStream& stream, StepIndex step) {
    for (auto jobs = own_jobs(*stream.planned); jobs < stream.jobs; ++jobs) writer_->submit(acquire(step));
  }

  /// Writes one value per point through as many buffers as it takes; `fill` puts values [first, first +
  /// count) into a buffer.
  template <class Fill>
  void submit_in_portions(const Piece& piece, StepIndex step, const Fill& fill) {
    const std::int64_t room = portion_of(piece);
    for (std::int64_t first = 0; first < piece.values; first += room) {
      const std::int64_t count = std::min(room, piece.values - first);
      Lease job = acquire(step);
      trace::Scope scope(log_, trace::Kind::pack, step);
      fill(first, count, job->add(piece, 0, first, count));
      scope.stop();
      writer_->submit(std::move(job));
    }
  }

  void submit_record(StepIndex step, bool flush = false) {
    Lease job = acquire(step);
    job->record = step;
    job->flush = flush;
    writer_->submit(std::move(job));
  }

  /// As `submit_record`, for all that was taken, if a buffer is free.
  bool try_to_submit_record(bool flush) {
    submit_gathered();
    auto job = writer_->try_acquire();
    if (!job) return false;
    (*job)->step = sampled_;
    (*job)->record = sampled_;
    (*job)->flush = flush;
    writer_->submit(std::move(*job));
    return true;
  }

  /// Everything that is still to be written, and what the sink moves between ranks, whatever fails.
  void write_and_complete(StepIndex last_step, Ending ending) {
    auto failure = error_of([&] { write_rest(last_step, ending); });
    trace::Scope scope(log_, trace::Kind::output_wait, last_step);
    wait_for_writer();
    const auto unsent = error_of([&] {
      if (exchange_ != nullptr) exchange_->complete();
    });
    account_.wait_s += scope.stop();
    if (!failure) failure = writer_->failure();
    if (!failure) failure = unsent;
    if (failure) throw Error(*failure);
  }

  /// The reductions, the record and the flush to the device.
  void write_rest(StepIndex last_step, Ending ending) {
    if (writer_->failure()) return;
    submit_gathered();
    if (is_written(last_step)) return;
    write_reductions(last_step, ending);
    submit_record(last_step, true);
  }

  /// Whether all is on the device: a checkpoint has been waited for before it is finished.
  [[nodiscard]] bool is_written(StepIndex last_step) const {
    const bool reduces = std::any_of(streams_.begin(), streams_.end(),
                                     [](const RunningStream& stream) { return stream.accumulates(); });
    return !together() && !reduces && last_step > 0 && reached_.durable() >= last_step;
  }

  /// Has the writer put all that was taken onto the device, unless it has failed.
  void flush_taken(StepIndex step) {
    if (!writer_->failure()) {
      submit_gathered();
      submit_record(step, true);
    }
    trace::Scope scope(log_, trace::Kind::output_wait, step);
    wait_for_writer();
    account_.wait_s += scope.stop();
    if (const auto failure = writer_->failure()) throw Error(*failure);
  }

  void wait_for_writer() {
    if (exchange_ != nullptr)
      for (Backoff backoff; !writer_->idle(); backoff.pause()) move();
    writer_->drain();
  }

  /// Lets go on whatever is on its way between processes.
  void move() {
    writer_->progress();
    if (drain_wanted_ && !writer_->failure() && try_to_submit_record(true)) drain_wanted_ = false;
    if (exchange_ != nullptr) exchange_->progress();
  }

  Lease wait_for_buffer() {
    if (exchange_ == nullptr) return writer_->acquire();
    for (Backoff backoff;; backoff.pause()) {
      move();
      if (auto lease = writer_->try_acquire()) return std::move(*lease);
    }
  }

  void write_reductions(StepIndex last_step, Ending ending) {
    for (const auto& stream : streams_) {
      if (!stream.accumulates() || (ending == Ending::suspended && stream.samples == 0)) continue;
      for (const auto& accumulator : stream.accumulators)
        submit_in_portions(accumulator.piece(), last_step,
                           [&](std::int64_t first, std::int64_t count, std::span<std::byte> out) {
                             if (ending == Ending::suspended)
                               accumulator.unfinished(first, count, out);
                             else
                               accumulator.result(stream.samples, first, count, out);
                           });
      submit_missing(stream, last_step);
    }
  }

  Lease acquire(StepIndex step) {
    auto lease = writer_->try_acquire();
    if (!lease) {
      trace::Scope scope(log_, trace::Kind::output_wait, step);
      lease.emplace(wait_for_buffer());
      account_.wait_s += scope.stop();
      ++account_.waits;
    }
    (*lease)->step = step;
    return std::move(*lease);
  }

  FieldView field_of(const PlannedStream& stream, const FieldLookup& field) const {
    const FieldView view = field(stream.quantity);
    TAILRACE_CHECK(view.data != nullptr && intersect(view.box, plan_.own_box) == plan_.own_box,
                   "the field of a quantity covers this rank's box");
    return view;
  }

  void add_up_account() noexcept { account_ += writer_->account(); }

  void add_up_exchange() noexcept {
    if (exchange_ == nullptr) return;
    account_.write_s += exchange_->write_s();
    account_.write_cpu_s += exchange_->write_cpu_s();
  }

  mpi::Comm comm_;
  std::string path_;
  Plan plan_;
  std::vector<const Piece*> pieces_;  // of the plan
  Options options_;
  Seat seat_;
  trace::Log& log_;
  trace::Log writer_log_{"writer"};
  StepIndex sampled_;  ///< the last step that was seen
  Reached reached_;
  std::optional<Pilot> pilot_;  // of the strategy auto
  PlanReport no_plan_;          // without one
  StepIndex committed_ = 0;
  bool drain_wanted_ = false;  ///< as soon as a buffer is free
  StepIndex draining_to_ = 0;  ///< what was wanted comes up to this step
  std::int64_t memory_bytes_ = 0;
  std::vector<std::string> warnings_;  ///< on the root
  std::vector<RunningStream> streams_;
  Account account_;
  std::unique_ptr<Sink> sink_;
  Exchange* exchange_ = nullptr;    // of the sink, if it has one
  std::unique_ptr<Writer> writer_;  // after the sink: it ends before
  std::optional<Lease> gathering_;  // after the writer, to whose pool it belongs
};

Session::Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head,
                 const Options& options, trace::Log& log)
    : Session(comm, std::move(path), std::move(plan), head, options, log, Resume{}) {}

Session::Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head,
                 const Options& options, trace::Log& log, const Resume& resume)
    : impl_(std::make_unique<Impl>(comm, path, std::move(plan), head, options, log, resume)) {}

Session::~Session() = default;

void Session::sample(StepIndex step, const FieldLookup& field, const RecordsLookup& records) {
  impl_->sample(step, field, records);
}
void Session::sample_final(StepIndex step, const FieldLookup& field) {
  impl_->sample_final(step, field);
}
void Session::switch_writer(const Options& options) {
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
bool Session::wait(WriteState state, StepIndex step, double limit_s) {
  return impl_->wait(state, step, limit_s);
}
void Session::note_committed(StepIndex step) noexcept {
  impl_->note_committed(step);
}
const Options& Session::options() const noexcept {
  return impl_->options();
}
std::optional<ErrorInfo> Session::failure() const {
  return impl_->failure();
}
void Session::finish(StepIndex last_step, const FileTail& tail) {
  impl_->end(last_step, tail, Ending::finished);
}
void Session::suspend(StepIndex last_step, const FileTail& tail) {
  impl_->end(last_step, tail, Ending::suspended);
}
void Session::write_final(StepIndex step, const PieceFill& fill) {
  impl_->write_final(step, fill);
}
bool Session::progress(WriteState state, StepIndex step) {
  return impl_->progress(state, step);
}
void Session::start_drain() {
  impl_->start_drain();
}
bool Session::waits_to_drain() {
  return impl_->waits_to_drain();
}
void Session::drain_until(StepIndex step) {
  impl_->drain_until(step);
}
StepIndex Session::drain(double limit_s) {
  return impl_->drain(limit_s);
}
std::vector<PlannedStream> Session::accumulator_streams(std::size_t first_dataset) const {
  return impl_->accumulator_streams(first_dataset);
}
void Session::write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step) {
  impl_->write_accumulators(reductions, step);
}
std::vector<RunningReduction> Session::running_reductions() {
  return impl_->running_reductions();
}
const Account& Session::account() const noexcept {
  return impl_->account();
}
const Seat& Session::seat() const noexcept {
  return impl_->seat();
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
