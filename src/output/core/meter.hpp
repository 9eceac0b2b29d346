// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>

#include "tailrace/box.hpp"

namespace tailrace::output {

/// Describes what one job has cost whoever wrote it.
struct JobCost {
  double write_s = 0;        ///< handing the bytes to the operating system
  double commit_mark_s = 0;  ///< marking that they are there
  double flush_s = 0;        ///< bringing them onto the device
  double cpu_s = 0;          ///< processor time of all that
  double submit_s = 0;       ///< processor time of the simulation's thread, where the kernel writes
  std::int64_t bytes = 0;

  [[nodiscard]] double total_s() const noexcept { return write_s + commit_mark_s + flush_s; }
};

/// Adds up what the jobs that one process writes cost, those of other ranks too. Whoever writes them adds,
/// any thread may read.
class Meter {
 public:
  struct Totals {
    std::int64_t jobs = 0;
    StepIndex after = -1;     ///< these jobs are those after this step
    StepIndex last_step = 0;  ///< refers to these jobs
    JobCost cost;
    double squares_s2 = 0;                 ///< refers to the jobs' times without the flush
    double slowest_s = 0;                  ///< likewise
    double flush_s = 0, flushed_at_s = 0;  ///< the last flush of all times, and when it ended; 0: none
  };

  /// Begins anew but for the last flush; jobs up to step `after` will not count. @local
  void restart(StepIndex after) noexcept;
  /// Begins anew with the jobs after those that it has, of steps that were taken long ago too. @local
  void next() noexcept;
  /// @local
  void add(StepIndex step, const JobCost& cost) noexcept;
  /// @local
  [[nodiscard]] Totals read() const noexcept {
    const std::scoped_lock lock(mutex_);
    return totals_;
  }

 private:
  void begin(StepIndex after) noexcept;

  mutable std::mutex mutex_;
  Totals totals_;
};

}  // namespace tailrace::output
