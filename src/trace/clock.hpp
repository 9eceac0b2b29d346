// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tailrace::trace {

/// At `local_s` of a rank's clock, rank 0's clock showed `local_s + offset_s`, give or take `error_s`.
struct ClockPoint {
  double local_s = 0, offset_s = 0, error_s = 0;
  double zero_s = 0;  ///< by rank 0's clock: the zero that is common to all ranks
};

/// The clock by which the trace of this process says times: `monotonic_s`. For tests of what happens between
/// machines it can be made wrong: with the environment variable TAILRACE_CLOCK_SKEW = OFFSET[,DRIFT] the
/// clock of rank r is ahead by r * OFFSET seconds and gains r * DRIFT seconds per second.
class Clock {
 public:
  Clock() = default;
  Clock(double offset_s, double drift) noexcept : offset_s_(offset_s), drift_(drift) {}
  /// As the environment says. Errors (usage): a value that is not one or two numbers.
  static Clock of_rank(int rank);

  [[nodiscard]] double now_s() const noexcept;
  /// Returns what this clock shows when `monotonic_s` is `time_s`.
  [[nodiscard]] double shown_at(double time_s) const noexcept { return time_s + offset_s_ + drift_ * time_s; }
  /// A text of at most 63 letters that is the same in processes that read the same clock: the start of the
  /// kernel and its time namespace. A text of this process alone where the system does not say so.
  [[nodiscard]] std::string identity() const;

 private:
  double offset_s_ = 0, drift_ = 0;
};

}  // namespace tailrace::trace
