// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::device {

/// What a queue does and when, on a track of its own in the trace, from events around it. Costs nothing
/// without a trace. One thread. The device outlives it.
class SpanLog {
 public:
  /// @param track  takes the place of a thread's name
  SpanLog(Device& device, std::string track);

  /// What the queue, the same each time, is given from here up to `end` is a span. @local; waits for the
  /// device the first time. Errors (resource): the device failed.
  void begin(Queue& queue, trace::Kind kind, StepIndex step, std::int64_t bytes = 0);
  void end(Queue& queue);
  /// Adds to the trace what has come to its end. @local. Errors: as `begin`.
  void collect();

 private:
  struct Pending {
    std::unique_ptr<Event> from, to;
    trace::Kind kind = trace::Kind::compute;
    StepIndex step = 0;
    std::int64_t bytes = 0;
  };
  void find_origin(Queue& queue);
  void add(Pending& done);
  [[nodiscard]] Pending take_events();

  Device& device_;
  trace::Log log_;
  bool open_ = false;
  std::unique_ptr<Event> origin_;  ///< times are counted from it; renewed, so that they stay exact
  double origin_s_ = 0;            ///< by `monotonic_s`
  std::deque<Pending> pending_;
  std::vector<Pending> unused_;
};

}  // namespace tailrace::device
