#include "tailrace/output/session.hpp"

#include <algorithm>
#include <cstring>

#include "resume.hpp"
#include "running_stream.hpp"
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
        plan_(std::move(plan)),
        log_(log),
        flush_samples_(options.flush_samples),
        reached_(resume.after) {
    // Before the sink opens the file, and perhaps keeps it open or replaces it.
    if (resume.after > 0) mpi::agree_on_root(comm_, [&] { check_resumable(path, plan_, head, resume); });
    const auto take_up = [&] {
      for (const auto& stream : plan_.streams) streams_.emplace_back(stream);
      if (resume.after > 0) restore(streams_, path, resume);
    };
    mpi::agree_on(comm_, take_up, close_limit_s);
    sink_ = create_sink({.comm = comm_,
                         .path = path,
                         .plan = plan_,
                         .head = head,
                         .options = options,
                         .resume_after = resume.after});
    exchange_ = sink_->exchange();
    memory_bytes_ = plan_.memory_bytes(buffer_count(options)) + sink_->memory_bytes();
    mpi::agree_on(comm_, [&] {
      writer_ = create_writer(
          {.sink = *sink_, .staging_bytes = plan_.staging_bytes(), .options = options, .log = log});
    });
  }

  ~Impl() {
    if (exchange_ != nullptr) exchange_->abandon();
    if (gathering_) writer_->submit(std::move(*gathering_));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void sample(StepIndex step, const FieldLookup& field) {
    reached_ = step;
    if (!writer_->failure()) take_due(step, field);
    if (exchange_ != nullptr) keep_up(step);
  }

  void sample_final(StepIndex step, const FieldLookup& field) {
    for (auto& stream : streams_)
      if (stream.is_final() && stream.taken_at != step) take_final(stream, step, field);
  }

  StepIndex drain() {
    const auto failure = shared_failure([&] {
      const auto mine = error_of([&] { flush_taken(reached_); });
      if (exchange_ != nullptr) exchange_->settle();  // before any wait for ranks that depend on this one
      if (mine) throw Error(*mine);
    });
    if (failure && failure->rank < 0) give_up(*failure);
    if (failure) throw Error(*failure);
    if (exchange_ != nullptr) return std::min(reached_, exchange_->commit());
    sink_->publish(comm_, reached_);
    return reached_;
  }

  void save_accumulators(Impl& checkpoint, StepIndex step) {
    auto target = checkpoint.streams_.end() - std::count_if(streams_.begin(), streams_.end(),
                                                            [](const auto& s) { return s.accumulates(); });
    for (auto& stream : streams_)
      if (stream.accumulates()) checkpoint.take_state(*target++, stream, step);
  }

  [[nodiscard]] std::vector<PlannedStream> accumulator_streams(std::size_t first_dataset) const {
    return output::accumulator_streams(plan_.streams, first_dataset);
  }

  void end(StepIndex last_step, const FileTail& tail, Ending ending) {
    const auto failure = shared_failure([&] { write_and_complete(last_step, ending); });
    if (failure && failure->rank < 0) give_up(*failure);
    const auto close_failure = error_of([&] {
      const trace::Scope scope(log_, trace::Kind::close, last_step);
      sink_->close(comm_, tail, !failure);
    });
    if (close_failure && close_failure->rank < 0) give_up(*close_failure);
    comm_.close();
    if (failure) throw Error(*failure);
    if (close_failure) throw Error(*close_failure);
  }

  [[nodiscard]] std::optional<ErrorInfo> failure() const { return writer_->failure(); }
  [[nodiscard]] const trace::Log* writer_log() const noexcept { return writer_->log(); }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] const std::string& warning() const noexcept { return sink_->warning(); }

  [[nodiscard]] const Account& account() const noexcept { return account_; }

 private:
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
  std::optional<ErrorInfo> shared_failure(const Action& action) {
    const auto mine = error_of(action);
    return error_of([&] { mpi::agree(comm_, mine, close_limit_s); });
  }

  void take_due(StepIndex step, const FieldLookup& field) {
    if (writer_->idle()) submit_gathered();
    accumulate(step, field);
    if (plan_.records(step)) take_samples(step, field);
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
  void take_samples(StepIndex step, const FieldLookup& field) {
    if (!gathering_) gathering_.emplace(acquire(step));
    pack_samples(step, field, **gathering_);
    const auto next = static_cast<std::size_t>(plan_.step_bytes());
    // Others may wait for what is to be moved.
    if (exchange_ != nullptr || next == 0 || (*gathering_)->room() < next || writer_->idle())
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
    job.flush = flush_samples_;
  }

  void take_final(RunningStream& stream, StepIndex step, const FieldLookup& field) {
    submit_gathered();
    stream.taken_at = step;
    if (stream.planned->pieces.empty()) return;
    const FieldView view = field_of(*stream.planned, field);
    for (const auto& piece : stream.planned->pieces)
      submit_in_portions(piece, step, [&](std::int64_t first, std::int64_t count, std::span<std::byte> out) {
        pack(view, piece, plan_.own_box, first, count, out);
      });
  }

  /// Writes one value per point through as many buffers as it takes; `fill` puts values [first, first +
  /// count) into a buffer.
  template <class Fill>
  void submit_in_portions(const Piece& piece, StepIndex step, const Fill& fill) {
    const auto room = static_cast<std::int64_t>(static_cast<std::size_t>(plan_.staging_bytes()) /
                                                h5::size_bytes(piece.type));
    for (std::int64_t first = 0; first < piece.values; first += room) {
      const std::int64_t count = std::min(room, piece.values - first);
      Lease job = acquire(step);
      trace::Scope scope(log_, trace::Kind::pack, step);
      fill(first, count, job->add(piece, 0, first, count));
      scope.stop();
      writer_->submit(std::move(job));
    }
  }

  /// Takes the values of an accumulating stream of another session as they stand.
  void take_state(RunningStream& target, RunningStream& source, StepIndex step) {
    target.taken_at = step;
    for (std::size_t i = 0; i < source.accumulators.size(); ++i) {
      const Piece& piece = target.planned->pieces[i];
      const auto state = source.accumulators[i].state();
      submit_in_portions(piece, step, [&](std::int64_t first, std::int64_t, std::span<std::byte> out) {
        std::memcpy(out.data(), state.data() + static_cast<std::size_t>(first) * h5::size_bytes(piece.type),
                    out.size());
      });
    }
  }

  void submit_record(StepIndex step, bool flush = false) {
    Lease job = acquire(step);
    job->record = step;
    job->flush = flush;
    writer_->submit(std::move(job));
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
    add_up_account();
    if (!failure) failure = writer_->failure();
    if (!failure) failure = unsent;
    if (failure) throw Error(*failure);
  }

  /// The reductions, the record and the flush to the device.
  void write_rest(StepIndex last_step, Ending ending) {
    if (writer_->failure()) return;
    submit_gathered();
    write_reductions(last_step, ending);
    submit_record(last_step, true);
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
      for (Backoff backoff; !writer_->idle(); backoff.pause()) exchange_->progress();
    writer_->drain();
  }

  Lease wait_for_buffer() {
    if (exchange_ == nullptr) return writer_->acquire();
    for (Backoff backoff;; backoff.pause()) {
      exchange_->progress();
      if (auto lease = writer_->try_acquire()) return std::move(*lease);
    }
  }

  void write_reductions(StepIndex last_step, Ending ending) {
    for (const auto& stream : streams_) {
      if (ending == Ending::suspended && stream.samples == 0) continue;
      for (const auto& accumulator : stream.accumulators)
        submit_in_portions(accumulator.piece(), last_step,
                           [&](std::int64_t first, std::int64_t count, std::span<std::byte> out) {
                             if (ending == Ending::suspended)
                               accumulator.unfinished(first, count, out);
                             else
                               accumulator.result(stream.samples, first, count, out);
                           });
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

  void add_up_account() noexcept {
    const Account& written = writer_->account();
    account_.wait_s += written.wait_s;
    account_.write_s = written.write_s;
    account_.write_cpu_s = written.write_cpu_s;
    account_.bytes = written.bytes;
    account_.writes = written.writes;
    if (exchange_ == nullptr) return;
    account_.write_s += exchange_->write_s();
    account_.write_cpu_s += exchange_->write_cpu_s();
  }

  mpi::Comm comm_;
  Plan plan_;
  trace::Log& log_;
  bool flush_samples_;
  StepIndex reached_;  ///< the last step that was seen
  std::int64_t memory_bytes_ = 0;
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

void Session::sample(StepIndex step, const FieldLookup& field) {
  impl_->sample(step, field);
}
void Session::sample_final(StepIndex step, const FieldLookup& field) {
  impl_->sample_final(step, field);
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
StepIndex Session::drain() {
  return impl_->drain();
}
std::vector<PlannedStream> Session::accumulator_streams(std::size_t first_dataset) const {
  return impl_->accumulator_streams(first_dataset);
}
void Session::save_accumulators(Session& checkpoint, StepIndex step) {
  impl_->save_accumulators(*checkpoint.impl_, step);
}
const Account& Session::account() const noexcept {
  return impl_->account();
}
const trace::Log* Session::writer_log() const noexcept {
  return impl_->writer_log();
}
std::int64_t Session::memory_bytes() const noexcept {
  return impl_->memory_bytes();
}
const std::string& Session::warning() const noexcept {
  return impl_->warning();
}

}  // namespace tailrace::output
