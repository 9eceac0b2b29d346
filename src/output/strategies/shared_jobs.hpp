// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "output/core/staging.hpp"
#include "output/core/writer.hpp"
#include "output/strategies/shared_signal.hpp"

namespace tailrace::output {

/// Describes how much memory a rank needs to hand jobs over.
struct SharedJobsShape {
  int buffers = 0;
  std::int64_t staging_bytes = 0;      ///< refers to each buffer
  std::size_t max_staged_extents = 0;  ///< refers to a job
};

/// The jobs of one rank, a member, on their way to the thread of another one, the leader, in memory that both
/// reach: the staging buffers and a ring with a slot for as many jobs. Jobs are numbered from 0 on, and
/// written in this order. The counters are atomic and each has one side that changes it, so no side ever
/// stalls the other one.
class SharedJobs {
 public:
  /// Bytes of memory that it takes, the buffers included.
  static std::size_t bytes_for(const SharedJobsShape& shape) noexcept;
  /// Makes the ring in memory that is zero; others attach to it afterwards.
  static SharedJobs create(std::span<std::byte> memory, const SharedJobsShape& shape);
  static SharedJobs attach(std::span<std::byte> memory, const SharedJobsShape& shape);

  // The member's side.
  [[nodiscard]] std::span<std::byte> buffers() const noexcept { return buffers_; }
  /// Describes the job to the leader. At most as many jobs as there are buffers are under way.
  void submit(const Staging& job);
  /// The member stalls until jobs are done: nothing is worth waiting for.
  void set_waiting(bool waiting) noexcept { head_->waiting = waiting; }
  /// The member will submit nothing more.
  void leave() noexcept { head_->left = true; }

  // The leader's side.
  /// Job `number`, which is submitted and not done; without shares and source, which the memory does not
  /// say so.
  [[nodiscard]] JobView job(std::uint64_t number) const;
  [[nodiscard]] StepIndex step(std::uint64_t number) const noexcept { return slot(number).step; }
  /// The jobs before `number` are done: written, or dropped after a failure.
  void finish(std::uint64_t number, bool written) noexcept;

  // For both.
  [[nodiscard]] std::uint64_t submitted() const noexcept { return head_->submitted; }
  [[nodiscard]] std::uint64_t done() const noexcept { return head_->done; }
  [[nodiscard]] std::uint64_t written() const noexcept { return head_->written; }
  [[nodiscard]] bool waiting() const noexcept { return head_->waiting; }
  [[nodiscard]] bool left() const noexcept { return head_->left; }
  [[nodiscard]] std::size_t max_staged_extents() const noexcept { return max_staged_extents_; }
  /// Raised by the leader when `done` changes, and when it ends.
  [[nodiscard]] SharedSignal& changed() const noexcept { return head_->changed; }

 private:
  /// A job but for its staged extents.
  struct Slot {
    std::size_t buffer, staged_extents;
    StepIndex step, commit_mark;
    bool has_commit_mark, flush;
  };
  struct alignas(64) Head {
    std::atomic<std::uint64_t> submitted = 0;
    std::atomic<bool> waiting = false, left = false;
    alignas(64) std::atomic<std::uint64_t> done = 0, written = 0;
    SharedSignal changed;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

  SharedJobs(std::span<std::byte> memory, const SharedJobsShape& shape, Head* head);
  [[nodiscard]] static std::size_t slots_bytes(const SharedJobsShape& shape) noexcept;
  [[nodiscard]] static std::size_t staged_extents_bytes(const SharedJobsShape& shape) noexcept;
  [[nodiscard]] Slot& slot(std::uint64_t number) const noexcept { return slots_[number % slots_.size()]; }
  [[nodiscard]] std::span<StagedExtent> staged_extents(std::uint64_t number) const noexcept {
    return staged_extents_.subspan(number % slots_.size() * max_staged_extents_, max_staged_extents_);
  }

  Head* head_;
  std::span<Slot> slots_;
  std::span<StagedExtent> staged_extents_;
  std::span<std::byte> buffers_;
  std::size_t max_staged_extents_, distance_;
};

}  // namespace tailrace::output
