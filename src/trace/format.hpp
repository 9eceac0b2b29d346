// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "channel.hpp"
#include "trace/clock.hpp"
#include "trace/recorder.hpp"

/// The bytes of a trace file (docs/formats/trace.md).
namespace tailrace::trace {

/// Puts a file together in memory, in batches that are written one after the other.
class Encoder {
 public:
  explicit Encoder(int counters) : counters_(counters) {}

  void header(const Identity& identity, const std::string& host, const std::string& clock,
              const std::vector<std::string>& counter_names);
  void thread(int number, std::string_view name);
  void clock_point(const ClockPoint& point);
  void end(std::uint32_t lost);

  /// Begins a block of events of a thread.
  void begin_events(int thread, std::uint32_t lost);
  /// An event of the block that was begun, with the times that the trace's clock showed.
  void event(const Event& event, const Counts& counts, int thread, const Clock& clock);
  /// Ends the block; the last of its events knows the memory of the process.
  void end_events(std::int64_t memory_bytes);

  void type_name(const TypeName& name);
  void summary(const Summary& summary, int thread, const Clock& clock);
  /// Begins a block of records of a thread, to be ended by `end_records`.
  void begin_records(int thread) { begin(Type::records, thread, sizeof(Record), 0); }
  void record(const Record& record, const Clock& clock);
  void end_records() noexcept { finish(); }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  /// Bytes of an event with as many counters.
  static constexpr std::size_t event_bytes(int counters) noexcept {
    return 48 + 8 * static_cast<std::size_t>(counters);
  }
  static constexpr std::size_t block_head_bytes = 24;

 private:
  enum class Type : std::uint8_t {
    thread = 1,
    events = 2,
    clock = 3,
    end = 4,
    type_name = 5,
    records = 6,
    summary = 7
  };
  template <class T>
  void put(T value);
  template <class T>
  void put_at(std::size_t position, T value) noexcept;
  void put_text(std::string_view text, std::size_t size);
  void begin(Type type, int thread, std::size_t event_bytes, std::uint32_t lost);
  void finish() noexcept;

  int counters_;
  std::vector<std::byte> bytes_;
  std::size_t block_ = 0;  // where the current one begins
  std::uint32_t number_ = 0;
};

}  // namespace tailrace::trace
