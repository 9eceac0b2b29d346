// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tailrace::am {

/// Wakes the thread that sleeps for something to arrive. Ringing while nobody sleeps takes no lock.
class Doorbell {
 public:
  /// How often it has rung: to be read before looking for what arrived.
  [[nodiscard]] std::uint32_t rings() const noexcept { return rings_.load(); }

  /// Any thread.
  void ring() {
    rings_.fetch_add(1);
    if (!sleeping_.load()) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
  }

  /// Sleeps until it has rung more than `seen` times, at most `limit_s` seconds. One thread.
  void sleep(std::uint32_t seen, double limit_s) {
    std::unique_lock lock(mutex_);
    sleeping_.store(true);
    changed_.wait_for(lock, std::chrono::duration<double>(limit_s), [&] { return rings_.load() != seen; });
    sleeping_.store(false);
  }

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<bool> sleeping_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace tailrace::am
