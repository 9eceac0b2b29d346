// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/trace.hpp"

#include <algorithm>
#include <utility>

#include "base/system.hpp"
#include "channel.hpp"
#include "counters.hpp"
#include "record_channel.hpp"
#include "trace/recorder.hpp"

namespace tailrace::trace {

const char* to_string(Kind kind) noexcept {
  constexpr std::array<const char*, kind_count> names{"setup",       "compute", "exchange", "pack",
                                                      "output_wait", "gather",  "write",    "sync",
                                                      "checkpoint",  "idle",    "close"};
  return names.at(static_cast<std::size_t>(kind));
}

namespace {
std::atomic<int> buffers = 0;
}

void count_buffers(int change) noexcept {
  buffers.fetch_add(change, std::memory_order_relaxed);
}

int buffers_in_use() noexcept {
  return buffers.load(std::memory_order_relaxed);
}

bool Log::empty() const noexcept {
  return std::all_of(totals_.begin(), totals_.end(), [](const Total& total) { return total.count == 0; });
}

Log::~Log() {
  if (channel_) channel_->end();
  if (records_) records_->end();
}

/// The way to the recorder of the process, null if there is none: the branch that remains of a trace that is
/// off.
Channel* Log::channel() noexcept {
  const auto now = Recorder::current();
  if (now == 0) return nullptr;
  if (now != recorder_) {
    if (channel_) channel_->end();
    channel_ = Recorder::channel_for(thread_);
    recorder_ = now;
  }
  return channel_.get();
}

void Log::add(const Span& span) noexcept {
  add(span, {});
}

void Log::add(const Span& span, const Counts& counts) noexcept {
  auto& total = totals_[static_cast<std::size_t>(span.kind)];
  total.seconds += span.end_s - span.start_s;
  total.bytes += span.bytes;
  ++total.count;
  if (auto* const way = channel()) way->put({span, static_cast<std::uint16_t>(buffers_in_use())}, counts);
}

/// As `channel`, for records.
RecordChannel* Log::record_channel() noexcept {
  const auto now = Recorder::current();
  if (now == 0) return nullptr;
  if (now != records_recorder_) {
    if (records_) records_->end();
    records_ = Recorder::record_channel_for(thread_);
    records_recorder_ = now;
  }
  return records_.get();
}

bool Log::add(const Record& record) noexcept {
  auto* const way = record_channel();
  return way != nullptr && way->put(record);
}

void Log::add(const TypeName& name) {
  Recorder::add(name);
}

void Log::add(Summary summary) {
  if (const auto* const way = record_channel()) Recorder::add(way->thread(), std::move(summary));
}

Counts Log::counts() noexcept {
  const auto* const way = channel();
  return way != nullptr && way->counting() ? read_counters() : Counts{};
}

Scope::Scope(Log& log, Kind kind, StepIndex step, std::int64_t bytes) noexcept
    : log_(&log),
      counts_(log.counts()),
      span_{.kind = kind, .step = step, .start_s = monotonic_s(), .end_s = 0, .bytes = bytes} {}

double Scope::stop() noexcept {
  if (log_ == nullptr) return 0;
  span_.end_s = monotonic_s();
  auto counts = log_->counts();
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= counts_[i];
  log_->add(span_, counts);
  log_ = nullptr;
  return span_.end_s - span_.start_s;
}

}  // namespace tailrace::trace
