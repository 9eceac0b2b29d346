// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "tasks/job.hpp"

namespace tailrace::tasks {

/// Jobs of one thread: it adds and takes the newest, others steal the oldest, nobody locks. Source: Chase,
/// Lev: Dynamic circular work-stealing deque, 2005; sequentially consistent where Lê et al. 2013 have fences,
/// which the thread sanitizer does not know.
class JobDeque {
 public:
  JobDeque() { grow(0, 0); }
  JobDeque(const JobDeque&) = delete;
  JobDeque& operator=(const JobDeque&) = delete;

  /// Owner.
  void push(Job* job) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed), top = top_.load();
    if (bottom - top >= ring_.load(std::memory_order_relaxed)->size) grow(top, bottom);
    ring_.load(std::memory_order_relaxed)->at(bottom).store(job, std::memory_order_relaxed);
    bottom_.store(bottom + 1);
  }

  /// Owner: the newest job, or null.
  Job* pop() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(bottom);
    std::int64_t top = top_.load();
    Job* job = nullptr;
    if (top <= bottom)
      job = ring_.load(std::memory_order_relaxed)->at(bottom).load(std::memory_order_relaxed);
    if (top < bottom) return job;
    // The last one, if there is one: whoever moves `top` has it.
    if (job != nullptr && !top_.compare_exchange_strong(top, top + 1)) job = nullptr;
    bottom_.store(bottom + 1);
    return job;
  }

  /// Any thread: the oldest job, or null.
  Job* steal() {
    for (std::int64_t top = top_.load(); top < bottom_.load();) {
      Job* const job = ring_.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed);
      if (top_.compare_exchange_weak(top, top + 1)) return job;
    }
    return nullptr;
  }

 private:
  struct Ring {
    explicit Ring(std::int64_t count) : size(count), slots(static_cast<std::size_t>(count)) {}
    std::atomic<Job*>& at(std::int64_t i) { return slots[static_cast<std::size_t>(i & (size - 1))]; }
    std::int64_t size;
    std::vector<std::atomic<Job*>> slots;
  };

  /// Old rings stay until the end: a thief may still read one.
  void grow(std::int64_t top, std::int64_t bottom) {
    constexpr std::int64_t first_size = 64;
    rings_.push_back(std::make_unique<Ring>(rings_.empty() ? first_size : 2 * rings_.back()->size));
    for (std::int64_t i = top; i < bottom; ++i)
      rings_.back()->at(i).store(ring_.load()->at(i).load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
    ring_.store(rings_.back().get(), std::memory_order_release);
  }

  alignas(alignment_bytes) std::atomic<std::int64_t> top_{0};
  alignas(alignment_bytes) std::atomic<std::int64_t> bottom_{0};
  std::atomic<Ring*> ring_{nullptr};
  std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace tailrace::tasks
