// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tailrace/trace.hpp"

namespace tailrace::trace {

/// Wakes the thread of the recorder.
struct Bell {
  std::mutex mutex;
  std::condition_variable rung;
};

/// A span as it waits for the recorder.
struct Event {
  Span span;
  std::uint16_t buffers;
};

/// The way of events from the thread of a log to the recorder: a ring that one thread fills and one empties,
/// without locks.
class Channel {
 public:
  static constexpr std::size_t capacity = 16384;

  Channel(int thread, bool counting, std::shared_ptr<Bell> bell)
      : thread_(thread), bell_(std::move(bell)), events_(capacity) {
    if (counting) counts_.resize(capacity);
  }

  /// Adds an event, unless there is no room. Called by the thread of the log.
  void put(const Event& event, const Counts& counts) noexcept {
    const auto at = written_.load(std::memory_order_relaxed);
    const auto waiting = at - taken_.load(std::memory_order_acquire);
    if (waiting == capacity) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    events_[at % capacity] = event;
    if (!counts_.empty()) counts_[at % capacity] = counts;
    written_.store(at + 1, std::memory_order_release);
    if (waiting + 1 == capacity / 4) bell_->rung.notify_one();
  }

  /// Hands every event, with its counts, to `take`, and makes room. Called by the recorder.
  template <class Take>
  void empty(const Take& take) {
    const auto end = written_.load(std::memory_order_acquire);
    for (auto at = taken_.load(std::memory_order_relaxed); at != end; ++at)
      take(events_[at % capacity], counts_.empty() ? Counts{} : counts_[at % capacity]);
    taken_.store(end, std::memory_order_release);
  }
  [[nodiscard]] std::size_t waiting() const noexcept {
    return written_.load(std::memory_order_acquire) - taken_.load(std::memory_order_relaxed);
  }
  /// Events lost since the last call.
  [[nodiscard]] std::uint32_t take_lost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }

  [[nodiscard]] bool counting() const noexcept { return !counts_.empty(); }

  /// The log's thread adds no more.
  void end() noexcept { ended_.store(true, std::memory_order_release); }
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  [[nodiscard]] int thread() const noexcept { return thread_; }

 private:
  const int thread_;
  const std::shared_ptr<Bell> bell_;
  std::vector<Event> events_;
  std::vector<Counts> counts_;                        // empty: nothing is counted
  alignas(64) std::atomic<std::size_t> written_ = 0;  // on a cache line of its own, as the other side's
  alignas(64) std::atomic<std::size_t> taken_ = 0;
  std::atomic<std::uint32_t> lost_ = 0;
  std::atomic<bool> ended_ = false;
};

}  // namespace tailrace::trace
