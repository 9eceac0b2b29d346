// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/async_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <utility>

#include "base/check.hpp"
#include "base/system.hpp"
#include "output/core/extents.hpp"

namespace tailrace::output {

namespace {

/// Describes what is being done with a job, one after the other; each begins when the one before is complete.
enum class Stage { samples, commit_mark, flush, done };

Extents extents_of(const Staging& job, std::span<const Share* const> shares) {
  const JobView view = view_of(job, shares);
  return Extents(std::span(&view, 1));
}

/// A submitted job.
struct Job {
  Job(Lease taken, std::span<const Share* const> shares, double now_s)
      : lease(std::move(taken)), extents(extents_of(*lease, shares)), ahead(extents.next()), start_s(now_s) {}

  Lease lease;
  Extents extents;
  std::optional<Extent> ahead;  ///< the first that is not under way
  Stage stage = Stage::samples;
  int under_way = 0;  ///< operations of its stage
  bool failed = false;
  std::int64_t dropped_bytes = 0;
  double start_s;
  double stage_start_s = 0;  ///< refers to a stage after the samples
  Written written;
  JobCost cost;
};

/// One write or flush under way.
struct Operation {
  static constexpr std::size_t max_shares = 16;

  Job* job = nullptr;
  std::size_t file = 0;
  std::int64_t offset = 0;
  bool flushes = false, pauses = false;
  OnFailure policy = OnFailure::stop;
  double give_up_s = 0, pause_s = 0;  ///< refers to a write that is tried again
  std::array<iovec, max_shares> shares;
  std::span<iovec> left;  ///< refers to the shares
};

iovec as_iovec(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT: writev takes no const
}

std::span<const std::byte> front_of(std::span<const std::byte> bytes, std::int64_t most) noexcept {
  return bytes.first(std::min(bytes.size(), static_cast<std::size_t>(most)));
}

std::size_t total_bytes(std::span<const iovec> shares) noexcept {
  std::size_t total = 0;
  for (const auto& share : shares) total += share.iov_len;
  return total;
}

/// The samples of all jobs are on their way as soon as they are submitted. The commit marks follow one after
/// the other, each when the samples of its job and of all before are complete, whenever the simulation looks
/// in.
class AsyncWriter final : public Writer {
 public:
  AsyncWriter(const WriterContext& context, AsyncWriterParts parts)
      : sink_(context.sink),
        places_(*context.sink.placed()),
        files_(places_.files()),
        unflushed_bytes_(files_.size(), 0),
        shares_(context.shares),
        reached_(context.reached),
        log_(context.writer_log),
        meter_(context.sink.meter()),
        memory_(std::move(parts.memory)),
        pool_(memory_, context.options.buffers, context.staging_bytes, context.comm.rank()),
        operations_(AsyncQueue::max_under_way),
        queue_(std::move(parts.queue)) {
    for (std::size_t i = operations_.size(); i > 0; --i) free_.push_back(i - 1);
  }

  ~AsyncWriter() override { flush_all(); }

  std::optional<Lease> try_acquire() override {
    progress();
    return pool_.try_acquire();
  }

  Lease acquire() override {
    for (;;) {
      move();
      if (auto lease = pool_.try_acquire()) return std::move(*lease);
      wait();
    }
  }

  void progress() override {
    if (jobs_.empty()) return;
    const double start_s = monotonic_s();
    move();
    account_.wait_s += monotonic_s() - start_s;
  }

  void submit(Lease job) override {
    if (failure_) return;
    const double start_s = monotonic_s();
    if (start_s > looked_at_s_ + between_looks_s && account_.bytes > 0) look_at_workers(start_s);
    jobs_.emplace_back(std::move(job), shares_, start_s);
    move();
    account_.wait_s += monotonic_s() - start_s;
  }

  [[nodiscard]] bool idle() const override { return jobs_.empty(); }

  void flush_all() override {
    for (move(); !jobs_.empty(); move()) wait();
    look_at_workers(monotonic_s());
  }

  [[nodiscard]] std::optional<ErrorInfo> failure() const override { return failure_; }
  [[nodiscard]] const Account& account() const noexcept override { return account_; }

 private:
  // The kernel's workers live longer than this without work, and looking at them takes far less.
  static constexpr double between_looks_s = 0.2;

  /// Takes in what is complete and asks for what comes next.
  void move() {
    if (jobs_.empty()) return;
    const double start_cpu_s = thread_cpu_s();
    guarded([this] {
      while (const auto completion = queue_->next()) take(*completion);
      for (auto& job : jobs_) issue_samples(job);
      while (!jobs_.empty() && advance(jobs_.front())) {
      }
      queue_->submit();
    });
    own_cpu_s_ += thread_cpu_s() - start_cpu_s;
  }

  void wait() {
    if (!jobs_.empty()) guarded([this] { queue_->wait(); });
  }

  void look_at_workers(double now_s) {
    looked_at_s_ = now_s;
    if (queue_) workers_cpu_s_ = queue_->cpu_s();
    account_.write_cpu_s = own_cpu_s_ + workers_cpu_s_;
    if (account_.bytes > 0) workers_s_per_byte_ = workers_cpu_s_ / static_cast<double>(account_.bytes);
  }

  /// A queue that has broken is given up with everything in it.
  template <class Action>
  void guarded(const Action& action) {
    try {
      action();
    } catch (...) {
      if (!failure_) failure_ = describe_current_exception();
      queue_.reset();
      jobs_.clear();
    }
  }

  /// Asks for the job's writes as long as there are operations left for them.
  void issue_samples(Job& job) {
    while (job.ahead && !failure_ && !free_.empty()) {
      Operation& operation = new_operation(job);
      const auto place = places_.place(job.ahead->dataset, job.ahead->offset_bytes);
      operation.file = place.file;
      operation.offset = place.offset;
      operation.policy = job.extents.policy();
      gather(job, operation);
      ++job.written.operations;
      issue_write(operation);
    }
  }

  /// Puts the extents that are neighbours in the file into one operation; those that are so in the buffer
  /// become one share.
  void gather(Job& job, Operation& operation) {
    std::size_t count = 0;
    std::int64_t end = operation.offset;
    while (job.ahead) {
      const auto place = places_.place(job.ahead->dataset, job.ahead->offset_bytes);
      if (place.file != operation.file || place.offset != end || job.extents.policy() != operation.policy)
        break;
      const iovec next = as_iovec(front_of(job.ahead->bytes, place.bytes));
      const std::size_t next_bytes = next.iov_len;
      iovec* const last = count > 0 ? &operation.shares[count - 1] : nullptr;
      if (last != nullptr && static_cast<std::byte*>(last->iov_base) + last->iov_len == next.iov_base)
        last->iov_len += next.iov_len;
      else if (count < operation.shares.size())
        operation.shares[count++] = next;
      else
        break;
      end += static_cast<std::int64_t>(next_bytes);
      resume(job, next_bytes);
    }
    operation.left = std::span(operation.shares).first(count);
  }

  /// Leaves the first bytes of what is ahead behind.
  static void resume(Job& job, std::size_t bytes) {
    if (bytes == job.ahead->bytes.size()) {
      job.ahead = job.extents.next();
      return;
    }
    job.ahead->offset_bytes += static_cast<std::int64_t>(bytes);
    job.ahead->bytes = job.ahead->bytes.subspan(bytes);
  }

  Operation& new_operation(Job& job) {
    Operation& operation = operations_[free_.back()];
    free_.pop_back();
    operation.job = &job;
    operation.flushes = operation.pauses = false;
    operation.policy = OnFailure::stop;
    operation.give_up_s = 0;
    ++job.under_way;
    return operation;
  }

  void end(Operation& operation) {
    --operation.job->under_way;
    free_.push_back(tag(operation));
  }

  [[nodiscard]] std::size_t tag(const Operation& operation) const noexcept {
    return static_cast<std::size_t>(&operation - operations_.data());
  }

  /// Begins or continues with a write, as pace and faults decide; they leave the commit mark alone.
  void issue_write(Operation& operation) {
    if (operation.job->stage == Stage::commit_mark) {
      queue_->write(tag(operation), operation.file, operation.left, operation.offset, 0);
      return;
    }
    const auto write_decision =
        files_[operation.file]->plan(total_bytes(operation.left), operation.job->lease->step);
    if (write_decision.kill) die_in(operation, write_decision.bytes);
    if (write_decision.error != 0) {
      fail(operation, write_decision.error);
      return;
    }
    not_before_s_ =
        std::max(not_before_s_, write_decision.not_before_s);  // nothing overtakes what is stalled
    queue_->write(tag(operation), operation.file, shortened(operation, write_decision.bytes),
                  operation.offset, not_before_s_ > monotonic_s() ? not_before_s_ : 0);
  }

  /// The first `bytes` of what is left.
  std::span<const iovec> shortened(Operation& operation, std::size_t bytes) {
    if (bytes == total_bytes(operation.left)) return operation.left;
    // Of a whole, one share is enough to fall short.
    auto& first = halves_[tag(operation)];
    first = operation.left.front();
    first.iov_len = std::min(first.iov_len, bytes);
    return std::span(&first, 1);
  }

  /// The fault `kill`: the process ends with half a write in the file.
  [[noreturn]] void die_in(const Operation& operation, std::size_t bytes) {
    const auto& first = operation.left.front();
    static_cast<void>(pwrite(files_[operation.file]->descriptor(), first.iov_base,
                             std::min(first.iov_len, bytes), operation.offset));
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }

  void take(const Completion& completion) {
    Operation& operation = operations_[completion.tag];
    if (std::exchange(operation.pauses, false)) {
      if (operation.job->failed)
        end(operation);
      else
        issue_write(operation);
      return;
    }
    const bool again = completion.result == -EINTR || completion.result == -EAGAIN;
    if (completion.result < 0 && !again) {
      fail(operation, static_cast<int>(-completion.result));
      return;
    }
    if (operation.flushes) {
      if (again)
        queue_->flush(completion.tag, operation.file);
      else
        end(operation);
      return;
    }
    if (completion.result == 0) {
      fail(operation, ENOSPC);  // nothing taken and no reason given: continuing would never end
      return;
    }
    if (!again) mark_taken(operation, completion.result);
    if (operation.left.empty() || operation.job->failed)
      end(operation);
    else
      issue_write(operation);
  }

  void mark_taken(Operation& operation, std::int64_t bytes) {
    operation.offset += bytes;
    operation.left = drop_front(operation.left, static_cast<std::size_t>(bytes));
    if (operation.job->stage == Stage::commit_mark) return;
    operation.job->written.bytes += bytes;
    auto& unflushed = unflushed_bytes_[operation.file];
    unflushed += bytes;
    if (unflushed < flush_every_bytes) return;
    queue_->start_flush(operation.file);
    unflushed = 0;
  }

  /// Does what the stream of a failed write asks for.
  void fail(Operation& operation, int error) {
    if (operation.policy == OnFailure::retry && try_again(operation)) return;
    if (operation.policy == OnFailure::drop) {
      const auto bytes = static_cast<std::int64_t>(total_bytes(operation.left));
      operation.job->dropped_bytes += bytes;
      account_.dropped_bytes += bytes;
      end(operation);
      return;
    }
    give_up(operation, error);
  }

  /// After ever longer pauses, in which the caller is not kept; false when the time for that is over.
  bool try_again(Operation& operation) {
    constexpr double first_pause_s = 0.01, longest_pause_s = 2;
    const double now_s = monotonic_s();
    const bool first = operation.give_up_s == 0;
    if (first) operation.give_up_s = now_s + retry_limit_s;
    operation.pause_s = first ? first_pause_s : std::min(2 * operation.pause_s, longest_pause_s);
    if (now_s + operation.pause_s > operation.give_up_s) return false;
    ++account_.retries;
    operation.pauses = true;
    queue_->pause(tag(operation), now_s + operation.pause_s);
    return true;
  }

  void give_up(Operation& operation, int error) {
    const RawFile& file = *files_[operation.file];
    if (!failure_)
      failure_ = operation.flushes ? file.refusal("flushing to the device", -1, error)
                                   : file.refusal("writing", operation.offset, error);
    operation.job->failed = true;
    end(operation);
  }

  /// Brings the first job one stage further; false if it must wait. After a failure nothing more is recorded:
  /// neither of the job that has failed nor of those behind it.
  bool advance(Job& job) {
    broken_off_ = broken_off_ || job.failed;
    if (job.under_way > 0 || (job.ahead && !failure_)) return false;
    if (broken_off_ || job.ahead) {
      broken_off_ = true;
      finish(job);
      return true;
    }
    charge_stage(job, monotonic_s());
    if (job.stage == Stage::commit_mark && job.lease->commit_mark)
      places_.mark_recorded(job.lease->source, *job.lease->commit_mark);
    job.stage = static_cast<Stage>(static_cast<int>(job.stage) + 1);
    if (job.stage == Stage::commit_mark) issue_commit_mark(job);
    if (job.stage == Stage::flush && job.lease->flush) issue_flush(job);
    if (job.stage == Stage::done) {
      reached_.mark(*job.lease);
      report_meter(job);
      finish(job);
    }
    return true;
  }

  /// Notes what a stage that has ended took, as far as can be seen from here: until somebody looked in. The
  /// commit mark has no time of its own, the samples of the next job are on their way meanwhile.
  void charge_stage(Job& job, double now_s) noexcept {
    if (job.stage == Stage::samples)
      job.cost.write_s = now_s - std::max(job.start_s, std::exchange(samples_end_s_, now_s));
    if (job.stage == Stage::flush && job.lease->flush) job.cost.flush_s = now_s - job.stage_start_s;
    job.stage_start_s = now_s;
  }

  /// The processor time of the workers is known for many jobs together: each gets its share by bytes.
  void report_meter(Job& job) {
    const std::int64_t bytes = job.written.bytes;
    job.cost.bytes = bytes;
    job.cost.cpu_s = workers_s_per_byte_ * static_cast<double>(bytes);
    job.cost.submit_s = own_cpu_s_ - std::exchange(metered_cpu_s_, own_cpu_s_);
    meter_.add(job.lease->step, job.cost);
  }

  void issue_commit_mark(Job& job) {
    const int source = job.lease->source;
    if (job.dropped_bytes > 0) sink_.mark_dropped(source);
    if (!job.lease->commit_mark) return;
    const auto slots = places_.commit_mark(source);
    if (slots.count == 0) return;
    slots_.assign(static_cast<std::size_t>(slots.count), static_cast<std::uint64_t>(*job.lease->commit_mark));
    Operation& operation = new_operation(job);
    operation.file = slots.first.file;
    operation.offset = slots.first.offset;
    operation.shares[0] = as_iovec(std::as_bytes(std::span(slots_)));
    operation.left = std::span(operation.shares).first(1);
    issue_write(operation);
  }

  void issue_flush(Job& job) {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      Operation& operation = new_operation(job);
      operation.file = file;
      operation.flushes = true;
      queue_->flush(tag(operation), file);
    }
  }

  /// Frees the first job's buffer.
  void finish(const Job& job) {
    const double end_s = monotonic_s(), start_s = std::max(job.start_s, last_end_s_);
    last_end_s_ = end_s;
    account_.write_s += end_s - start_s;
    account_.bytes += job.written.bytes;
    account_.writes += job.written.operations;
    log_.add({.kind = trace::Kind::write,
              .step = job.lease->step,
              .start_s = start_s,
              .end_s = end_s,
              .bytes = job.written.bytes});
    jobs_.pop_front();
  }

  Sink& sink_;
  PlacedFiles& places_;
  std::vector<RawFile*> files_;
  std::vector<std::int64_t> unflushed_bytes_;  ///< refers to each file
  std::span<const Share* const> shares_;
  Reached& reached_;
  trace::Log& log_;
  Meter& meter_;
  Account account_;
  AlignedVector<std::byte> memory_;
  StagingPool pool_;
  std::deque<Job> jobs_;  // after the pool; operations refer to its elements, which stay where they are
  std::vector<Operation> operations_;
  std::vector<std::size_t> free_;  ///< operations that are not under way
  std::array<iovec, AsyncQueue::max_under_way> halves_{};
  std::vector<std::uint64_t> slots_;  ///< refers to the one commit mark that is under way
  std::optional<ErrorInfo> failure_;
  bool broken_off_ = false;
  double not_before_s_ = 0, last_end_s_ = 0, samples_end_s_ = 0, looked_at_s_ = 0;
  double own_cpu_s_ = 0, workers_cpu_s_ = 0, workers_s_per_byte_ = 0, metered_cpu_s_ = 0;
  std::unique_ptr<AsyncQueue> queue_;
};

}  // namespace

std::unique_ptr<Writer> make_async_writer(const WriterContext& context, AsyncWriterParts parts) {
  TAILRACE_CHECK(context.sink.placed() != nullptr, "the sink has known places");
  return std::make_unique<AsyncWriter>(context, std::move(parts));
}

}  // namespace tailrace::output
