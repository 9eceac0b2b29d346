// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "tailrace/box.hpp"
#include "tailrace/checkpoint_options.hpp"

namespace tailrace::checkpoint {

/// Time of work between two checkpoints that loses least to checkpoints and failures, where each costs
/// `cost_s`: J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, Future
/// Generation Computer Systems 22 (2006), equation (37); the mean time between failures itself where a
/// checkpoint takes twice that or more.
double daly_interval_s(double cost_s, double mtbf_s) noexcept;

/// Says when a checkpoint is due. A plain value; steps are the same on all ranks, the clock is that of one.
class Schedule {
 public:
  /// `from`: the step from which the run continues, 0 at its beginning.
  explicit Schedule(const Rules& rules, StepIndex from = 0) : rules_(rules), taken_step_(from) {}

  /// Returns whether the number of steps makes one due after this step.
  [[nodiscard]] bool is_due_by_steps(StepIndex step) const noexcept;
  /// The first step after `step` for which it does, if the number of steps decides.
  [[nodiscard]] std::optional<StepIndex> next_by_steps(StepIndex step) const noexcept;
  /// Returns whether the clock does, `now_s` seconds after the start of the steps.
  [[nodiscard]] bool is_due_by_clock(double now_s) const noexcept;
  /// One was taken after this step; it stalled the computation for `cost_s`.
  void mark_taken(StepIndex step, double now_s, double cost_s) noexcept;
  /// Seconds from one to the next, if a clock decides: the shortest of the rules. Before the first
  /// checkpoint, when nothing is known of its cost, a hundredth of the mean time between failures represents
  /// the interval of that rule.
  [[nodiscard]] std::optional<double> interval_s() const noexcept;

 private:
  Rules rules_;
  StepIndex taken_step_ = 0;
  double taken_s_ = 0;
  std::optional<double> cost_s_;  ///< running mean of the last ones
};

}  // namespace tailrace::checkpoint
