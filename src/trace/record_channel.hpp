// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "trace/channel.hpp"

namespace tailrace::trace {

/// How many records the threads of a process may put into its file; once one of them finds none left, none
/// puts any more, so that what is there has no holes.
class RecordBudget {
 public:
  explicit RecordBudget(std::int64_t records) noexcept : left_(records) {}

  /// As many as may be put now, up to a batch; 0: none ever again.
  std::int64_t take() noexcept {
    if (spent()) return 0;
    const auto before = left_.fetch_sub(batch, std::memory_order_relaxed);
    if (before <= 0) spend();
    return std::clamp<std::int64_t>(before, 0, batch);
  }
  void spend() noexcept { spent_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool spent() const noexcept { return spent_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t batch = 1024;
  std::atomic<std::int64_t> left_;
  std::atomic<bool> spent_ = false;
};

/// The way of records from the thread of a log to the recorder, as `Channel` for events. Where the recorder
/// is too slow to make room, the budget counts as spent.
class RecordChannel {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 17;

  RecordChannel(int thread, std::shared_ptr<Bell> bell, std::shared_ptr<RecordBudget> budget)
      : thread_(thread), bell_(std::move(bell)), budget_(std::move(budget)), records_(capacity) {}

  /// Adds a record; returns whether it did. Called by the thread of the log.
  bool put(const Record& record) noexcept {
    if (granted_ == 0) granted_ = budget_->take();
    if (granted_ == 0 || budget_->spent()) return false;
    const auto at = written_.load(std::memory_order_relaxed);
    const auto waiting = at - taken_.load(std::memory_order_acquire);
    if (waiting == capacity) {
      budget_->spend();
      return false;
    }
    --granted_;
    records_[at % capacity] = record;
    written_.store(at + 1, std::memory_order_release);
    if (waiting + 1 == capacity / 4) bell_->rung.notify_one();
    return true;
  }
  /// Hands every record to `take`, and makes room. Called by the recorder.
  template <class Take>
  void empty(const Take& take) {
    const auto end = written_.load(std::memory_order_acquire);
    for (auto at = taken_.load(std::memory_order_relaxed); at != end; ++at) take(records_[at % capacity]);
    taken_.store(end, std::memory_order_release);
  }
  [[nodiscard]] bool waiting() const noexcept {
    return written_.load(std::memory_order_acquire) != taken_.load(std::memory_order_relaxed);
  }

  /// The log's thread adds no more.
  void end() noexcept { ended_.store(true, std::memory_order_release); }
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  [[nodiscard]] int thread() const noexcept { return thread_; }

 private:
  const int thread_;
  const std::shared_ptr<Bell> bell_;
  const std::shared_ptr<RecordBudget> budget_;
  std::vector<Record> records_;
  std::int64_t granted_ = 0;
  alignas(64) std::atomic<std::size_t> written_ = 0;
  alignas(64) std::atomic<std::size_t> taken_ = 0;
  std::atomic<bool> ended_ = false;
};

}  // namespace tailrace::trace
