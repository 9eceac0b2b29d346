#pragma once

#include <optional>
#include <string>

namespace tailrace::run {

/// Reasons to end a run early and in good order: a signal (SIGTERM, SIGINT, SIGUSR2) or the wall-clock limit.
/// Launchers forward SIGUSR2 to all ranks where they would answer SIGINT by killing them.
class StopRequest {
 public:
  /// Installs the signal handlers, and ignores SIGXFSZ: a limit on the size of files becomes a write error
  /// with its reason. One object per process.
  explicit StopRequest(std::optional<double> wall_limit_s);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  /// Whether this process was asked to stop. @local
  [[nodiscard]] bool requested() const noexcept;
  /// Why, for people; "another rank was asked to stop" where this one was not. @local
  [[nodiscard]] std::string reason() const;

 private:
  std::optional<double> wall_limit_s_;
  double start_s_;
};

}  // namespace tailrace::run
