// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "output/strategies/shared_signal.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

/// Describes what the leader of a group shows its members, in memory that all of them reach.
class LeaderBoard {
 public:
  explicit LeaderBoard(pid_t leader) noexcept : leader_(leader) {}

  /// Raised by members: there is a job, or somebody waits.
  [[nodiscard]] SharedSignal& bell() noexcept { return bell_; }

  /// A write has failed: nothing more is written. Texts that are very long are cut. Once, by the leader.
  void fail(const ErrorInfo& error) noexcept;
  /// The leader has ended: nothing more is done at all. By the leader.
  void end() noexcept { ended_ = true; }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::optional<ErrorInfo> failure() const;
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// False once the process of the leader is gone.
  [[nodiscard]] bool leader_lives() const noexcept;

 private:
  std::atomic<bool> failed_ = false, ended_ = false;
  SharedSignal bell_;
  pid_t leader_;
  ErrorKind kind_ = ErrorKind::internal;
  int rank_ = -1;
  std::int64_t offset_ = -1;
  std::array<char, 8192> message_{};  // names the path, which is at most 4096 letters
  std::array<char, 4096> path_{};
  std::array<char, 1024> hint_{};
};

}  // namespace tailrace::output
