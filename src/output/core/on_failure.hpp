// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "output/core/sink.hpp"

namespace tailrace::output {

/// Describes what came of writes that did not work at once.
struct FailedWrites {
  std::int64_t retries = 0, dropped_bytes = 0;
};

/// Hands extents of streams with this policy to the sink, and does what the policy says if that fails.
/// @local; with `retry` it may sleep for `retry_limit_s`. Errors (io): the sink's.
Written write_with_policy(OnFailure policy, Sink& sink, std::span<const Extent> extents, StepIndex step,
                          FailedWrites& failures);

}  // namespace tailrace::output
