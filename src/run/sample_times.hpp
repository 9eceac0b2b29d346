// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "tailrace/stream.hpp"

namespace tailrace::run {

/// The steps at which a stream looks at its field.
class SampleTimes {
 public:
  explicit SampleTimes(const output::Stream& stream)
      : cadence_(stream.cadence), once_(stream.reduction == output::Reduction::final) {}

  /// The first of them after `step`; `Cadence::open_end` if there is none. @local
  [[nodiscard]] StepIndex next_after(StepIndex step) const noexcept {
    if (once_) return step < cadence_.last ? cadence_.last : output::Cadence::open_end;
    const StepIndex sample = cadence_.samples_until(step);
    const bool there = cadence_.is_open() || sample < cadence_.samples();
    return there ? cadence_.step_of(sample) : output::Cadence::open_end;
  }

 private:
  output::Cadence cadence_;
  bool once_;
};

/// The first step after `step` at which one of several streams looks at its field, likewise. @local
inline StepIndex next_of(const std::vector<SampleTimes>& streams, StepIndex step) noexcept {
  StepIndex next = output::Cadence::open_end;
  for (const auto& stream : streams) next = std::min(next, stream.next_after(step));
  return next;
}

}  // namespace tailrace::run
