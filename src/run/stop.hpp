// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace tailrace::run {

/// Reasons to end a run early and in good order: a signal (SIGTERM, SIGINT, SIGUSR2), the wall-clock limit,
/// or the time to pause, when a run is to be resumed by another one. Launchers forward SIGUSR2 to all
/// ranks where they would answer SIGINT by killing them. SIGUSR1 asks for a checkpoint, without an end.
class StopRequest {
 public:
  /// Installs the signal handlers, and ignores SIGXFSZ: a limit on the size of files becomes a write error
  /// with its reason. One object per process.
  explicit StopRequest(std::optional<double> wall_limit_s, std::optional<double> pause_after_s = {});
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  /// Returns whether this process was asked to stop. @local
  [[nodiscard]] bool requested() const noexcept;
  /// Returns whether that was more than the time to pause. @local
  [[nodiscard]] bool ends_run() const noexcept;
  /// Returns whether this process was asked for a checkpoint since the last call. @local
  [[nodiscard]] bool take_checkpoint_wish() noexcept;
  /// Why, for people; "another rank was asked to stop" where this one was not. @local
  [[nodiscard]] std::string reason() const;

 private:
  std::optional<double> wall_limit_s_, pause_after_s_;
  double start_s_;
};

}  // namespace tailrace::run
