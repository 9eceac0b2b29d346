// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tailrace/box.hpp"

/// Describes where the time went: spans and counters per thread. Needs no MPI.
namespace tailrace::trace {

/// Describes what a thread does during a span.
enum class Kind : std::uint8_t {
  setup,
  compute,
  exchange,     ///< refers to values between ranks, for the computation
  pack,         ///< samples are copied into a staging buffer
  output_wait,  ///< the computation stalls for output
  gather,       ///< samples move between processes
  write,
  sync,        ///< says what was written is brought onto the device
  checkpoint,  ///< the state is saved
  idle,        ///< a writer has nothing to do
  close
};
inline constexpr std::size_t kind_count = 11;
const char* to_string(Kind kind) noexcept;

/// Describes what is recorded beside the totals.
enum class Mode {
  off,
  on,
  papi,  ///< with the hardware counters that PAPI reads
};
const char* to_string(Mode mode) noexcept;
/// Reads "off", "on" or "papi". Errors (usage): another text, with `name` for where it comes from; "papi"
/// where the program was built without PAPI or the machine has no hardware counters.
Mode parse_mode(const char* name, const std::string& text);

/// One interval of time of one thread; times in seconds of `monotonic_s`.
struct Span {
  Kind kind;
  StepIndex step;
  double start_s, end_s;
  std::int64_t bytes;
};

/// Totals of one kind of span.
struct Total {
  double seconds = 0;
  std::int64_t bytes = 0, count = 0;
};

/// Describes what hardware counters counted during a span.
using Counts = std::array<std::int64_t, 4>;

/// Marks that a staging buffer of this process was taken (1) or given back (-1). Any thread.
void count_buffers(int change) noexcept;
/// Staging buffers of this process that are in use.
int buffers_in_use() noexcept;

class Channel;

/// The log of one thread: totals, and events for the trace file if a `Recorder` is at work. Only its thread
/// adds to it; the totals are read after the thread has ended or is idle.
class Log {
 public:
  explicit Log(std::string thread) noexcept : thread_(std::move(thread)) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  /// Adds a span to the totals and, if the process has a recorder, to its events. Never waits for the file.
  void add(const Span& span) noexcept;
  void add(const Span& span, const Counts& counts) noexcept;
  /// Reads the hardware counters of the calling thread; zeros unless a recorder wants them.
  [[nodiscard]] Counts counts() noexcept;

  [[nodiscard]] const Total& total(Kind kind) const noexcept {
    return totals_[static_cast<std::size_t>(kind)];
  }
  /// Returns whether nothing was added yet.
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] const std::string& thread() const noexcept { return thread_; }

 private:
  Channel* channel() noexcept;

  std::string thread_;
  std::array<Total, kind_count> totals_{};
  unsigned recorder_ = 0;             ///< the number of the one that the channel leads to
  std::shared_ptr<Channel> channel_;  ///< null until the first event
};

/// Adds the time from its construction to its end, or to `stop`, to a log.
class Scope {
 public:
  Scope(Log& log, Kind kind, StepIndex step, std::int64_t bytes = 0) noexcept;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { stop(); }
  /// Ends the span now; later calls do nothing. Returns its length in seconds, 0 on later calls.
  double stop() noexcept;

 private:
  Log* log_;
  Counts counts_;
  Span span_;
};

}  // namespace tailrace::trace
