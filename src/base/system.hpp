// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace tailrace {

/// Seconds of a clock that only moves forward; the zero is arbitrary but common to all processes of a node.
double monotonic_s() noexcept;
/// CPU seconds used by the calling thread.
double thread_cpu_s() noexcept;
/// Largest resident memory of this process so far, in bytes. Of memory that processes share, each has its
/// part.
std::int64_t peak_memory_bytes() noexcept;
/// Resident memory of this process now, in bytes, counted likewise.
std::int64_t resident_memory_bytes() noexcept;
/// Memory of this machine, in bytes.
std::int64_t physical_memory_bytes() noexcept;
/// Name of this machine.
std::string host_name();
/// The current time as ISO 8601 with the offset from UTC.
std::string iso_time_now();
/// Sleeps for `seconds` without using the processor.
void sleep_s(double seconds) noexcept;

/// A pause that grows with the time spent in it, from 20 microseconds to 2 milliseconds: waiting that leaves
/// the core to others, and that adds a thousandth to a long wait.
class Backoff {
 public:
  void pause() noexcept { sleep_s(next_s()); }
  /// The length of the next pause, for a caller who makes it.
  double next_s() noexcept {
    const double pause_s = std::clamp(paused_s_ * 1e-3, shortest_s, longest_s);
    paused_s_ += pause_s;
    return pause_s;
  }

 private:
  static constexpr double shortest_s = 20e-6, longest_s = 2e-3;
  double paused_s_ = 0;
};

/// Bytes for people: "12.5 MB".
std::string human_bytes(double bytes);
/// Reads "8", "8MB", "8MiB", "1.5GB/s": SI and binary units; throws `Error` (usage) naming `what`.
double parse_bytes(const std::string& text, const std::string& what);
/// The same for a limit of memory. Errors (usage): also less than a byte or more than 1000000TB
std::int64_t parse_byte_limit(const std::string& text, const std::string& what);
/// Reads "3", "3s", "5ms", "20us": seconds; throws `Error` (usage) naming `what`.
double parse_seconds(const std::string& text, const std::string& what);

/// Writes a text to a stream such as stdout. What the stream does not take, because its disk is full or its
/// reader is gone, is lost: words must not end a run.
void say(std::FILE* stream, const std::string& text) noexcept;

}  // namespace tailrace
