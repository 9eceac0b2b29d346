// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "output/core/writer.hpp"
#include "output/strategies/leader_board.hpp"
#include "output/strategies/shared_jobs.hpp"

namespace tailrace::output {

/// A rank whose samples a leader writes.
struct GroupMember {
  int source = 0;  ///< its rank in the session
  SharedJobs jobs;
  std::vector<Share> shares;  ///< without their points
};

/// Describes what the thread of a leader does: it writes the jobs of the members, each member's in the order
/// of their submission. Jobs of the same steps are written together, so that what lies side by side in the
/// file leaves as one write though it comes from several ranks. A job waits for those of the other members,
/// but no longer than the last write took, and not while anybody stalls.
class LeaderWork {
 public:
  LeaderWork(std::vector<GroupMember> members, LeaderBoard& board, Sink& sink, trace::Log& log);

  /// The thread: works until `close`, then on what is submitted by then. Makes no MPI call.
  void run();
  /// Has `run` return. Called by another thread.
  void close() noexcept;

  /// Cost of the writes, and their bytes, so far. Any thread may ask.
  [[nodiscard]] Account account() const;
  /// Bytes of the lists of shares, and of those that are made to write.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  /// A member with what is known of its jobs.
  struct Source {
    GroupMember member;
    std::vector<const Share*> shares;
    std::uint64_t submitted = 0, taken = 0;  ///< jobs that are there, and those of the batch or before it
    StepIndex reached = 0;                   ///< step of the last job that was taken
    [[nodiscard]] bool has_job() const noexcept { return taken < submitted; }
    [[nodiscard]] StepIndex next_step() const noexcept { return member.jobs.step(taken); }
  };

  void look() noexcept;
  [[nodiscard]] std::optional<StepIndex> lowest_step() const noexcept;
  [[nodiscard]] bool worth_waiting(StepIndex step) const noexcept;
  void take_jobs(StepIndex step);
  void write();

  std::vector<Source> sources_;
  LeaderBoard& board_;
  Sink& sink_;
  trace::Log& log_;
  std::int64_t memory_bytes_ = 0;
  std::vector<JobView> batch_;
  double patience_s_;
  std::atomic<bool> closing_ = false;
  mutable std::mutex mutex_;
  Account account_, known_account_;  ///< refers to the thread; what others may know, under the mutex
};

}  // namespace tailrace::output
