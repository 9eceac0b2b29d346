// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include "base/system.hpp"
#include "output/core/extents.hpp"
#include "output/core/on_failure.hpp"
#include "output/core/writer.hpp"

namespace tailrace::output {

namespace {

/// Extents that are handed to the sink together: bounds the memory of lists of many single points.
constexpr std::size_t extents_at_once = 1024;

/// Hands extents to the sink in batches.
class ExtentStream {
 public:
  ExtentStream(StepIndex step, Sink& sink) : step_(step), sink_(sink) {}

  void add(const Extent& extent, OnFailure policy) {
    if (policy != policy_ || count_ == extents_.size()) hand_over();
    policy_ = policy;
    extents_[count_++] = extent;
  }
  void hand_over() {
    const auto extents = std::span(extents_).first(std::exchange(count_, 0));
    count(write_with_policy(policy_, sink_, extents, step_, failures_));
  }
  /// Records, which come behind all extents of their job.
  void append(const JobView& job) {
    for (const auto& staged_extent : job.rows) {
      const auto bytes = job.bytes.subspan(staged_extent.position, staged_extent.bytes);
      count(sink_.append(staged_extent.dataset, staged_extent.sample, bytes, step_));
    }
  }
  [[nodiscard]] const Written& written() const noexcept { return written_; }
  [[nodiscard]] const FailedWrites& failures() const noexcept { return failures_; }

 private:
  void count(const Written& now) noexcept {
    written_.bytes += now.bytes;
    written_.operations += now.operations;
  }

  StepIndex step_;
  Sink& sink_;
  std::array<Extent, extents_at_once> extents_;
  std::size_t count_ = 0;
  OnFailure policy_ = OnFailure::stop;
  Written written_;
  FailedWrites failures_;
};

/// Times the parts of a job and says the sink's meter in the end, unless an exception comes before.
class Timer {
 public:
  explicit Timer(Sink& sink) : sink_(sink) {}
  /// Seconds since the last lap.
  double lap() noexcept {
    const double now_s = monotonic_s();
    return now_s - std::exchange(lap_s_, now_s);
  }
  void report(StepIndex step, JobCost cost) noexcept {
    cost.cpu_s = thread_cpu_s() - start_cpu_s_;
    sink_.meter().add(step, cost);
  }

 private:
  Sink& sink_;
  double lap_s_ = monotonic_s(), start_cpu_s_ = thread_cpu_s();
};

/// Charges what happens during its life to an account and a log, also when it ends by an exception.
class Charge {
 public:
  Charge(trace::Kind kind, StepIndex step, const ExtentStream& extents, Account& account, trace::Log& log)
      : kind_(kind), step_(step), extents_(extents), account_(account), log_(log) {}
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() {
    const double end_s = monotonic_s();
    account_.write_s += end_s - start_s_;
    account_.write_cpu_s += thread_cpu_s() - start_cpu_s_;
    account_.bytes += extents_.written().bytes;
    account_.writes += extents_.written().operations;
    account_.retries += extents_.failures().retries;
    account_.dropped_bytes += extents_.failures().dropped_bytes;
    log_.add({.kind = kind_,
              .step = step_,
              .start_s = start_s_,
              .end_s = end_s,
              .bytes = extents_.written().bytes});
  }

 private:
  trace::Kind kind_;
  StepIndex step_;
  const ExtentStream& extents_;
  Account& account_;
  trace::Log& log_;
  double start_s_ = monotonic_s(), start_cpu_s_ = thread_cpu_s();
};

}  // namespace

JobView view_of(const Staging& job, std::span<const Share* const> shares) noexcept {
  return {.staged_extents = job.staged_extents,
          .rows = job.rows,
          .bytes = job.bytes,
          .shares = shares,
          .source = job.source,
          .step = job.step,
          .commit_mark = job.commit_mark,
          .flush = job.flush};
}

void run_jobs(std::span<const JobView> jobs, Sink& sink, Account& account, trace::Log& log) {
  StepIndex step = 0;
  for (const auto& job : jobs) step = std::max(step, job.step);
  Timer timer(sink);
  JobCost cost;
  {
    ExtentStream extents(step, sink);
    const Charge charge(trace::Kind::write, step, extents, account, log);
    do {
      for (Extents places(jobs); const auto extent = places.next();) extents.add(*extent, places.policy());
      extents.hand_over();
    } while (!sink.is_unchanged());
    for (const auto& job : jobs) extents.append(job);
    sink.finish_job(step);
    cost.write_s = timer.lap();
    cost.bytes = extents.written().bytes;
    for (const auto& job : jobs) {
      // Jobs that are written together are left out together.
      if (extents.failures().dropped_bytes > 0) sink.mark_dropped(job.source);
      if (job.commit_mark) sink.commit_mark(job.source, *job.commit_mark);
    }
    cost.commit_mark_s = timer.lap();
  }
  if (std::any_of(jobs.begin(), jobs.end(), [](const auto& job) { return job.flush; })) {
    const ExtentStream nothing(step, sink);
    const Charge charge(trace::Kind::sync, step, nothing, account, log);
    sink.flush();
    cost.flush_s = timer.lap();
  }
  timer.report(step, cost);
}

void run_job(const Staging& job, std::span<const Share* const> shares, Sink& sink, Account& account,
             trace::Log& log) {
  const JobView view = view_of(job, shares);
  run_jobs(std::span(&view, 1), sink, account, log);
}

}  // namespace tailrace::output
