// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/on_failure.hpp"

#include <algorithm>

#include "base/system.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// Continues after ever longer pauses; writing the same bytes to the same place once more does no harm.
Written retry(Sink& sink, std::span<const Extent> extent, StepIndex step, FailedWrites& failures) {
  constexpr double first_pause_s = 0.01, longest_pause_s = 2;
  const double end_s = monotonic_s() + retry_limit_s;
  for (double pause_s = first_pause_s;; pause_s = std::min(2 * pause_s, longest_pause_s)) {
    ++failures.retries;
    try {
      return sink.write(extent, step);
    } catch (const Error&) {
      if (monotonic_s() + pause_s > end_s) throw;
    }
    sleep_s(pause_s);
  }
}

Written write_or_drop(Sink& sink, std::span<const Extent> extent, StepIndex step, FailedWrites& failures) {
  try {
    return sink.write(extent, step);
  } catch (const Error&) {
    failures.dropped_bytes += static_cast<std::int64_t>(extent.front().bytes.size());
    return {};
  }
}

/// All extents are written again where the sink has gone: the same bytes do no harm.
Written write_where_possible(Sink& sink, std::span<const Extent> extents, StepIndex step) {
  for (;;) {
    try {
      return sink.write(extents, step);
    } catch (const RefusedWrite& refusal) {
      if (!sink.fail_over(refusal, step)) throw;
    }
  }
}

}  // namespace

Written write_with_policy(OnFailure policy, Sink& sink, std::span<const Extent> extents, StepIndex step,
                          FailedWrites& failures) {
  if (policy == OnFailure::stop) return sink.write(extents, step);
  if (policy == OnFailure::switch_directory) return write_where_possible(sink, extents, step);
  try {
    return sink.write(extents, step);
  } catch (const Error&) {
    Written written;  // one by one now: nobody knows how far it came
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto extent = extents.subspan(i, 1);
      const Written now = policy == OnFailure::retry ? retry(sink, extent, step, failures)
                                                     : write_or_drop(sink, extent, step, failures);
      written.bytes += now.bytes;
      written.operations += now.operations;
    }
    return written;
  }
}

}  // namespace tailrace::output
