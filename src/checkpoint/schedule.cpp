// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace tailrace::checkpoint {

double daly_interval_s(double cost_s, double mtbf_s) noexcept {
  if (cost_s >= 2 * mtbf_s) return mtbf_s;
  const double ratio = cost_s / (2 * mtbf_s);
  return std::sqrt(2 * cost_s * mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - cost_s;
}

bool Schedule::is_due_by_steps(StepIndex step) const noexcept {
  return rules_.every_steps && step / *rules_.every_steps > taken_step_ / *rules_.every_steps;
}

std::optional<StepIndex> Schedule::next_by_steps(StepIndex step) const noexcept {
  if (!rules_.every_steps) return {};
  return (step / *rules_.every_steps + 1) * *rules_.every_steps;
}

bool Schedule::is_due_by_clock(double now_s) const noexcept {
  const auto interval = interval_s();
  return interval && now_s - taken_s_ >= *interval;
}

void Schedule::mark_taken(StepIndex step, double now_s, double cost_s) noexcept {
  constexpr double weight = 0.5;  // of the newest: costs change with the load of the file system
  taken_step_ = step;
  taken_s_ = now_s;
  cost_s_ = cost_s_ ? *cost_s_ + weight * (cost_s - *cost_s_) : cost_s;
}

std::optional<double> Schedule::interval_s() const noexcept {
  constexpr double first_part = 0.01;
  constexpr double min_cost_s = 1e-3;  // asynchronously a checkpoint may cost next to nothing
  auto interval = rules_.every_s;
  if (rules_.mtbf_s) {
    const double daly = cost_s_ ? daly_interval_s(std::max(*cost_s_, min_cost_s), *rules_.mtbf_s)
                                : first_part * *rules_.mtbf_s;
    interval = interval ? std::min(*interval, daly) : daly;
  }
  return interval;
}

}  // namespace tailrace::checkpoint
