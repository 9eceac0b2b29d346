// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/meter.hpp"

#include <algorithm>

#include "base/system.hpp"

namespace tailrace::output {

void Meter::begin(StepIndex after) noexcept {
  totals_ = {.after = after, .cost = {}, .flush_s = totals_.flush_s, .flushed_at_s = totals_.flushed_at_s};
}

void Meter::restart(StepIndex after) noexcept {
  const std::scoped_lock lock(mutex_);
  begin(after);
}

void Meter::next() noexcept {
  const std::scoped_lock lock(mutex_);
  begin(std::max(totals_.after, totals_.last_step));
}

void Meter::add(StepIndex step, const JobCost& cost) noexcept {
  const double time_s = cost.write_s + cost.commit_mark_s;
  const std::scoped_lock lock(mutex_);
  if (cost.flush_s > 0) {
    totals_.flush_s = cost.flush_s;
    totals_.flushed_at_s = monotonic_s();
  }
  if (step <= totals_.after || cost.bytes == 0) return;  // without bytes it is a commit mark alone
  ++totals_.jobs;
  totals_.last_step = std::max(totals_.last_step, step);
  totals_.cost.write_s += cost.write_s;
  totals_.cost.commit_mark_s += cost.commit_mark_s;
  totals_.cost.flush_s += cost.flush_s;
  totals_.cost.cpu_s += cost.cpu_s;
  totals_.cost.submit_s += cost.submit_s;
  totals_.cost.bytes += cost.bytes;
  totals_.squares_s2 += time_s * time_s;
  totals_.slowest_s = std::max(totals_.slowest_s, time_s);
}

}  // namespace tailrace::output
