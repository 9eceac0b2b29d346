// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "output/core/accumulator.hpp"
#include "output/core/plan.hpp"

namespace tailrace::output {

/// A stream with what has been taken of it.
struct RunningStream {
  const PlannedStream* planned;
  std::size_t first_dataset;              ///< in the file, counted over all streams
  std::vector<Accumulator> accumulators;  ///< one per share, of a reduction that accumulates
  StepIndex samples = 0;
  StepIndex taken_at = -1;
  std::int64_t jobs =
      0;  ///< that all ranks submit to write a reduction to a sink whose writes are collective

  RunningStream(const PlannedStream& stream, std::size_t first) : planned(&stream), first_dataset(first) {
    if (!accumulates()) return;
    for (const auto& share : stream.shares) accumulators.emplace_back(share, stream.reduction);
  }
  [[nodiscard]] bool unreduced() const noexcept { return planned->reduction == Reduction::none; }
  [[nodiscard]] bool is_final() const noexcept { return planned->reduction == Reduction::final; }
  [[nodiscard]] bool accumulates() const noexcept { return !unreduced() && !is_final(); }
};

}  // namespace tailrace::output
