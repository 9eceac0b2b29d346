// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tailrace/error.hpp"
#include "tailrace/trace.hpp"
#include "trace/clock.hpp"

namespace tailrace::trace {

/// Describes what a process does in the run.
enum class Role : std::uint8_t { compute, writer };

/// Whose trace it is.
struct Identity {
  int rank = 0, ranks = 1;
  Role role = Role::compute;
};

/// Writes the events of all logs of this process into one file (docs/formats/trace.md),
/// asynchronously: logs put events into memory of bounded size, and a thread that mostly sleeps takes them
/// from there about ten times a second. Events that find no room are counted and lost; nothing waits for the
/// file. At most one per process at a time.
class Recorder {
 public:
  /// Creates the file and starts the thread: all logs of the process record into it from now on. Errors
  /// (io): the file cannot be created.
  Recorder(const std::string& path, const Identity& identity, const Clock& clock, Mode mode);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// As `close`, without its answer.
  ~Recorder();

  /// Adds what is known of the clock.
  void add(const ClockPoint& point);
  /// Writes what is left and ends the file; logs record no more. Returns why the file is incomplete, if it
  /// is.
  std::optional<ErrorInfo> close() noexcept;
  /// Bytes that the recorder and a log of each of `threads` threads hold.
  [[nodiscard]] static std::int64_t memory_bytes(int threads, Mode mode) noexcept;

 private:
  friend class Log;
  class State;
  /// A number that no other recorder of the process has; 0: there is none at work.
  static unsigned current() noexcept;
  /// A channel to it; none where that is impossible.
  static std::shared_ptr<Channel> channel_for(const std::string& thread) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace tailrace::trace
