// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// Something that happened at one moment, in 32 bytes: what it means is a matter of who records it
/// (docs/formats/trace.md). The time is of `monotonic_s`.
struct Record {
  double time_s = 0;
  std::uint64_t subject = 0, object = 0;
  std::uint32_t amount = 0;
  std::uint16_t type = 0;  ///< a number of the table of names
  std::uint8_t event = 0;
  std::uint8_t reserved = 0;
};
static_assert(sizeof(Record) == 32);

/// An entry of the table that says what types of records are, and where they are in a source.
struct TypeName {
  std::uint16_t number = 0;
  std::uint8_t kind = 0;
  std::int32_t line = 0, column = 0;
  std::string name, file;
};

/// What a thread says of all its records in constant space, those too that are not in the file. The times of
/// the head are of `monotonic_s`; the body follows it in the file as it is.
struct Summary {
  double start_s = 0, end_s = 0;
  double full_until_s = 0;  ///< each record up to there is in the file
  double bin_s = 0;
  std::vector<std::byte> body;
};

/// A number that no other recorder of this process has, of the one that is at work; 0: there is none.
unsigned recorder_number() noexcept;

class Channel;
class RecordChannel;

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
  /// Records what happened, in full as long as all threads of the process together stay within the budget of
  /// the recorder. Returns whether it did; once it has not, it does no more. Never waits for the file.
  bool add(const Record& record) noexcept;
  /// Adds an entry to the table of names, if the process has a recorder.
  void add(const TypeName& name);
  /// Says what the thread has recorded so far, in place of what was said before.
  void add(Summary summary);
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
  RecordChannel* record_channel() noexcept;

  std::string thread_;
  std::array<Total, kind_count> totals_{};
  unsigned recorder_ = 0;             ///< the number of the one that the channel leads to
  std::shared_ptr<Channel> channel_;  ///< null until the first event
  unsigned records_recorder_ = 0;
  std::shared_ptr<RecordChannel> records_;  ///< null until the first record
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
