// SPDX-License-Identifier: BSD-3-Clause
#include "format.hpp"

#include <zlib.h>

#include <bit>
#include <cstddef>
#include <cstring>

#include "base/bytes.hpp"

namespace tailrace::trace {

static_assert(std::endian::native == std::endian::little, "trace files are little endian");

namespace {

constexpr std::uint32_t version = 1;
constexpr std::size_t header_bytes = 296, text_bytes = 64, name_bytes = 32;

/// An event as it lies in the file, before its counters.
struct Stored {
  double start_s, end_s;
  std::int64_t step, bytes;
  std::int64_t memory_bytes = 0;  // see end_events
  std::uint8_t thread, kind;
  std::uint16_t buffers;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Stored) == Encoder::event_bytes(0));

std::uint32_t checksum(std::uint32_t before, std::span<const std::byte> bytes) noexcept {
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());  // NOLINT: as zlib wants bytes
  return static_cast<std::uint32_t>(crc32(before, data, static_cast<uInt>(bytes.size())));
}

}  // namespace

template <class T>
void Encoder::put(T value) {
  append_value(bytes_, value);
}

template <class T>
void Encoder::put_at(std::size_t position, T value) noexcept {
  tailrace::put_at(bytes_, position, value);
}

/// Cuts the text, or fills it up with zeros; at least one is there.
void Encoder::put_text(std::string_view text, std::size_t size) {
  const auto position = bytes_.size();
  bytes_.resize(position + size);
  std::memcpy(bytes_.data() + position, text.data(), std::min(text.size(), size - 1));
}

void Encoder::header(const Identity& identity, const std::string& host, const std::string& clock,
                     const std::vector<std::string>& counter_names) {
  put_text("TRLTRACE", 9);
  bytes_.pop_back();
  put(version);
  put(static_cast<std::uint32_t>(header_bytes));
  put(static_cast<std::int32_t>(identity.rank));
  put(static_cast<std::int32_t>(identity.ranks));
  put(static_cast<std::uint32_t>(identity.role));
  put(static_cast<std::uint32_t>(counters_));
  put_text(host, text_bytes);
  put_text(clock, text_bytes);
  for (std::size_t i = 0; i < Counts{}.size(); ++i)
    put_text(i < counter_names.size() ? counter_names[i] : "", name_bytes);
  put(checksum(0, bytes_));
  put(std::uint32_t{0});
}

void Encoder::begin(Type type, int thread, std::size_t event_bytes, std::uint32_t lost) {
  block_ = bytes_.size();
  put_text("TRBK", 5);
  bytes_.pop_back();
  put(static_cast<std::uint8_t>(type));
  put(static_cast<std::uint8_t>(thread));
  put(static_cast<std::uint16_t>(event_bytes));
  put(std::uint32_t{0});  // the size, see finish
  put(number_++);
  put(lost);
  put(std::uint32_t{0});  // the checksum
}

void Encoder::finish() noexcept {
  const auto payload = block_ + block_head_bytes;
  put_at(block_ + 8, static_cast<std::uint32_t>(bytes_.size() - payload));
  const std::span<const std::byte> all = bytes_;
  const auto head = checksum(0, all.subspan(block_, block_head_bytes - 4));
  put_at(payload - 4, checksum(head, all.subspan(payload)));
}

void Encoder::thread(int number, std::string_view name) {
  begin(Type::thread, number, 0, 0);
  put_text(name, name.size() + 1);
  finish();
}

void Encoder::clock_point(const ClockPoint& point) {
  begin(Type::clock, 0, 0, 0);
  for (const double value : {point.local_s, point.offset_s, point.error_s, point.zero_s}) put(value);
  finish();
}

void Encoder::end(std::uint32_t lost) {
  begin(Type::end, 0, 0, lost);
  finish();
}

void Encoder::begin_events(int thread, std::uint32_t lost) {
  begin(Type::events, thread, event_bytes(counters_), lost);
}

void Encoder::event(const Event& event, const Counts& counts, int thread, const Clock& clock) {
  const auto& span = event.span;
  put(Stored{.start_s = clock.shown_at(span.start_s),
             .end_s = clock.shown_at(span.end_s),
             .step = span.step,
             .bytes = span.bytes,
             .thread = static_cast<std::uint8_t>(thread),
             .kind = static_cast<std::uint8_t>(span.kind),
             .buffers = event.buffers});
  for (int i = 0; i < counters_; ++i) put(counts.at(static_cast<std::size_t>(i)));
}

void Encoder::end_events(std::int64_t memory_bytes) {
  put_at(bytes_.size() - event_bytes(counters_) + offsetof(Stored, memory_bytes), memory_bytes);
  finish();
}

void Encoder::type_name(const TypeName& name) {
  begin(Type::type_name, 0, 0, 0);
  put(name.number);
  put(name.kind);
  put(std::uint8_t{0});
  put(name.line);
  put(name.column);
  put_text(name.name, name.name.size() + 1);
  put_text(name.file, name.file.size() + 1);
  finish();
}

void Encoder::summary(const Summary& summary, int thread, const Clock& clock) {
  begin(Type::summary, thread, 0, 0);
  for (const double time_s : {summary.start_s, summary.end_s, summary.full_until_s})
    put(clock.shown_at(time_s));
  put(summary.bin_s);
  append_bytes(bytes_, summary.body);
  finish();
}

void Encoder::record(const Record& record, const Clock& clock) {
  auto shown = record;
  shown.time_s = clock.shown_at(record.time_s);
  put(shown);
}

}  // namespace tailrace::trace
