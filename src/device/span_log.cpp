// SPDX-License-Identifier: BSD-3-Clause
#include "device/span_log.hpp"

#include <utility>

#include "base/system.hpp"

namespace tailrace::device {

SpanLog::SpanLog(Device& device, std::string track) : device_(device), log_(std::move(track)) {}

void SpanLog::begin(Queue& queue, trace::Kind kind, StepIndex step, std::int64_t bytes) {
  if (trace::recorder_number() == 0) return;
  if (!origin_) find_origin(queue);
  collect();
  auto span = take_events();
  span.kind = kind;
  span.step = step;
  span.bytes = bytes;
  queue.record(*span.from);
  pending_.push_back(std::move(span));
  open_ = true;
}

void SpanLog::end(Queue& queue) {
  if (!std::exchange(open_, false)) return;
  queue.record(*pending_.back().to);
}

void SpanLog::collect() {
  while (!pending_.empty() && !(open_ && pending_.size() == 1) && pending_.front().to->reached()) {
    add(pending_.front());
    unused_.push_back(std::move(pending_.front()));
    pending_.pop_front();
  }
}

/// The queue is empty then, so its time is the host's.
void SpanLog::find_origin(Queue& queue) {
  origin_ = device_.make_timed_event();
  queue.record(*origin_);
  origin_->wait();
  origin_s_ = monotonic_s();
}

void SpanLog::add(Pending& done) {
  constexpr double longest_s = 10;  // devices count in milliseconds, in single precision
  const double start_s = origin_s_ + done.from->seconds_since(*origin_),
               end_s = origin_s_ + done.to->seconds_since(*origin_);
  log_.add({done.kind, done.step, start_s, end_s, done.bytes});
  if (end_s - origin_s_ < longest_s) return;
  std::swap(origin_, done.to);
  origin_s_ = end_s;
}

SpanLog::Pending SpanLog::take_events() {
  if (unused_.empty()) return {.from = device_.make_timed_event(), .to = device_.make_timed_event()};
  auto events = std::move(unused_.back());
  unused_.pop_back();
  return events;
}

}  // namespace tailrace::device
