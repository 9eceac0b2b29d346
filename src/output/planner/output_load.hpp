// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "output/core/plan.hpp"

namespace tailrace::output {

/// When the outputs of a run come and what they weigh: its unreduced samples. Plain numbers of one rank and
/// of the file.
class OutputLoad {
 public:
  /// `plan` outlives this; the outputs up to step `after` were written by an earlier run. @local
  OutputLoad(const Plan& plan, StepIndex after);

  /// Steps at which samples are due, ascending.
  [[nodiscard]] const std::vector<StepIndex>& steps() const noexcept { return steps_; }
  /// Time steps from one of them to the next, the fewest and on average; 1 without two of them.
  [[nodiscard]] StepIndex fewest_between() const noexcept;
  [[nodiscard]] double mean_between() const noexcept;
  /// Datasets that they go to.
  [[nodiscard]] int datasets() const noexcept;

  /// Bytes of an output that this rank owns: on average, and of that of a step.
  [[nodiscard]] double own_bytes() const noexcept { return own_bytes_; }
  [[nodiscard]] double own_bytes_at(StepIndex step) const noexcept;
  /// The same over all ranks.
  [[nodiscard]] double bytes() const noexcept { return bytes_; }
  [[nodiscard]] double bytes_at(StepIndex step) const noexcept;

 private:
  const Plan& plan_;
  std::vector<StepIndex> steps_;
  double own_bytes_ = 0, bytes_ = 0;
};

}  // namespace tailrace::output
