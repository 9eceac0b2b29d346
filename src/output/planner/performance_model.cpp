// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/performance_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace tailrace::output {

namespace {

constexpr bool writes_in_the_step(const Candidate& candidate) noexcept {
  return candidate.strategy == Strategy::blocking;
}

/// The relative difference of a disturbed and an undisturbed number, as far as a measurement can
/// distinguishes it from the few percent that are usual.
Estimate interference_of(Estimate alone, Estimate beside) noexcept {
  if (alone.value <= 0) return assumed_interference;
  const Estimate measured{.value = beside.value / alone.value - 1,
                          .error = std::hypot(alone.error, beside.error) / alone.value};
  auto both = combine(assumed_interference, measured);
  both.value = std::max(0.0, both.value);
  return both;
}

}  // namespace

std::vector<double> Observation::numbers() const {
  return {steps,    bytes, period_s, compute_s.value, compute_s.error, copy_s,
          waited_s, jobs,  write_s,  write_error,     write_slowest_s, commit_mark_s,
          flush_s,  cpu_s, submit_s, flush_pending};
}

Observation Observation::of(std::span<const double> n) {
  TAILRACE_CHECK(n.size() == Observation().numbers().size(), "an observation comes back as it was sent");
  return {.steps = n[0],
          .bytes = n[1],
          .period_s = n[2],
          .compute_s = {n[3], n[4]},
          .copy_s = n[5],
          .waited_s = n[6],
          .jobs = n[7],
          .write_s = n[8],
          .write_error = n[9],
          .write_slowest_s = n[10],
          .commit_mark_s = n[11],
          .flush_s = n[12],
          .cpu_s = n[13],
          .submit_s = n[14],
          .flush_pending = n[15]};
}

void PerformanceModel::assume(const std::optional<Estimate>& interference,
                              const std::optional<Estimate>& write_interference) {
  const auto widened = [](Estimate estimate) {
    // What differs from run to run is not in the error of one of them.
    constexpr double min_error = 0.02;
    if (estimate.error < min_error) estimate.error = min_error;
    return estimate;
  };
  if (interference) measured_.interference = widened(*interference);
  if (write_interference) measured_.write_interference = widened(*write_interference);
  compared_ = compared_ || interference.has_value();
}

void PerformanceModel::take_writing(const Observation& seen, const Candidate& current) {
  if (seen.jobs == 0) return;  // other processes wrote: what was known of writing stays
  const double disturbance = writes_in_the_step(current) ? 1 : 1 + measured_.write_interference.value;
  measured_.write.write_s = seen.write_s / disturbance;
  measured_.write.agree_s = seen.commit_mark_s / disturbance;
  measured_.write.flush_s = seen.flush_s / disturbance;
  measured_.write_slowest_s = seen.write_slowest_s / disturbance;
  measured_.write_error = seen.write_error;
  const double total_s = write_time(measured_), phi = total_s > 0 ? seen.cpu_s / total_s : 0;
  measured_.phi = {phi, phi * seen.write_error};
  measured_.writers = writer_count(measured_.machine, current);
}

/// What the kernel has done is noticed when its rank looks in, once in a time step: only where the
/// rank waited for a buffer the time is that of the writing. Elsewhere it is no more than that, and a
/// thread's may be less.
void PerformanceModel::take_queue(const Observation& seen) {
  if (seen.jobs == 0) return;
  const double flush_s = beyond_page_cache(measured_) ? seen.flush_s : 0;
  const double noticed_s =
      (seen.write_s + seen.commit_mark_s + flush_s) / (1 + measured_.write_interference.value);
  const double known_s = write_time(measured_);
  const bool exact = seen.waited_s > 0 || known_s <= 0;
  auto queue = measured_.queue.value_or(QueueTime{.interference = measured_.interference});
  queue.submit_s = seen.submit_s;
  queue.write_s = exact ? noticed_s : std::min(noticed_s, known_s);
  queue.cpu_s = seen.cpu_s;
  measured_.queue = queue;
}

void PerformanceModel::compare(const Observation& alone, const Observation& beside, const Candidate& behind) {
  const double taken = std::min(taken_s(measured_, behind), beside.compute_s.value);
  measured_.interference = interference_of(
      alone.compute_s, {.value = beside.compute_s.value - taken, .error = beside.compute_s.error});
  const double alone_s = alone.write_s + alone.commit_mark_s,
               beside_s = beside.write_s + beside.commit_mark_s;
  if (alone.jobs > 0 && beside.jobs > 0 && behind.strategy != Strategy::uring)
    measured_.write_interference =
        interference_of({alone_s, alone_s * alone.write_error}, {beside_s, beside_s * beside.write_error});
  compared_ = true;
}

void PerformanceModel::learn(const Observation& seen, const Candidate& current) {
  const bool queue = current.strategy == Strategy::uring;
  if (queue)
    take_queue(seen);
  else
    take_writing(seen, current);
  measured_.copy_s = seen.copy_s;
  // A writer takes from the computation what it needs of the processor while there is computing.
  const double taken =
      writes_in_the_step(current) ? 0 : std::min(taken_s(measured_, current), seen.compute_s.value / 2);
  const Estimate beside{.value = seen.compute_s.value - taken, .error = seen.compute_s.error};
  if (queue && measured_.queue && compared_ && writes_in_the_step(last_candidate_)) {
    // An attempt beside the computing that was just measured alone.
    measured_.queue->interference = interference_of(measured_.compute_s, beside);
  } else {
    if (last_ && writes_in_the_step(current) != writes_in_the_step(last_candidate_)) {
      if (writes_in_the_step(current))
        compare(seen, *last_, last_candidate_);
      else
        compare(*last_, seen, current);
    }
    take_computing(beside, current);
  }
  last_ = seen;
  last_candidate_ = current;
}

/// C, from what was seen less what the writing took.
void PerformanceModel::take_computing(Estimate beside, const Candidate& current) {
  measured_.compute_s = beside;
  if (writes_in_the_step(current)) return;
  const bool queue = current.strategy == Strategy::uring && measured_.queue;
  const auto& interference = queue ? measured_.queue->interference : measured_.interference;
  measured_.compute_s.value /= 1 + interference.value;
}

Measurements PerformanceModel::measurements(std::int64_t outputs_left) const {
  auto measured = measured_;
  measured.outputs_left = outputs_left;
  return measured;
}

}  // namespace tailrace::output
