// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
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
  /// Bytes of records that a file has at most, unless another budget is given.
  static constexpr std::int64_t usual_record_bytes = std::int64_t{64} << 20;

  /// Creates the file and starts the thread: all logs of the process record into it from now on, records in
  /// full up to as many bytes. Errors (io): the file cannot be created.
  Recorder(const std::string& path, const Identity& identity, const Clock& clock, Mode mode,
           std::int64_t record_bytes = usual_record_bytes);
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
  friend unsigned recorder_number() noexcept;
  class State;
  /// A number that no other recorder of the process has; 0: there is none at work.
  static unsigned current() noexcept;
  /// A channel to it; none where that is impossible.
  static std::shared_ptr<Channel> channel_for(const std::string& thread) noexcept;
  static std::shared_ptr<RecordChannel> record_channel_for(const std::string& thread) noexcept;
  /// Does something with the recorder of the process, if there is one.
  static void with_state(const std::function<void(State&)>& use);
  static void add(const TypeName& name);
  static void add(int thread, Summary summary);

  std::unique_ptr<State> state_;
};

}  // namespace tailrace::trace
