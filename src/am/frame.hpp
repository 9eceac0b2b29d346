// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "base/bytes.hpp"

/// Frames: what travels between ranks at a time, messages one after the other behind a header.
namespace tailrace::am {

/// Memory whose bytes start uninitialised, aligned to a cache line.
using Bytes = AlignedVector<std::byte>;

/// The two orders of precedence: what is on the lane `control` overtakes what waits on `data`.
enum class Lane : std::uint8_t { control, data };
inline constexpr std::size_t lane_count = 2;

/// Names an entry of a `SlotTable` of another rank. The generation differs when the slot has been reused.
struct Token {
  std::uint32_t slot = 0, generation = 0;
  friend bool operator==(const Token&, const Token&) = default;
};

/// Describes what an entry says.
enum class EntryType : std::uint8_t {
  message,   ///< a whole message
  announce,  ///< a message whose body is sent when the receiver has memory for it
  ready,     ///< the memory is there
};

/// Stands before each message; head and body follow, each padded to 8 bytes.
struct EntryHeader {
  EntryType type = EntryType::message;
  std::uint8_t module = 0;
  std::uint16_t head_bytes = 0;
  std::uint32_t body_bytes = 0;
};

/// Is the body of an `announce`.
struct Announcement {
  Token sender;
  std::uint64_t body_bytes = 0;
};
/// Is the body of a `ready`.
struct Readiness {
  Token sender;
  std::int32_t tag = 0;
  std::int32_t padding = 0;
};

/// Stands at the front of a frame.
struct FrameHeader {
  std::uint16_t kind = 0;                           ///< the module of its first message
  std::uint16_t counted = 0;                        ///< 1: the frame takes a credit of its lane
  std::array<std::uint16_t, lane_count> credits{};  ///< given back to the receiver of the frame, by lane
};

constexpr std::size_t padded8(std::size_t bytes) noexcept {
  return (bytes + 7) & ~std::size_t{7};
}
/// Bytes that an entry takes.
constexpr std::size_t entry_bytes(std::size_t head, std::size_t body) noexcept {
  return sizeof(EntryHeader) + padded8(head) + padded8(body);
}

/// Appends an entry to a frame.
inline void append_entry(Bytes& frame, const EntryHeader& header, std::span<const std::byte> head,
                         std::span<const std::byte> body) {
  const std::size_t first = frame.size(), head_at = first + sizeof header;
  frame.resize(first + entry_bytes(head.size(), body.size()));
  put_at(frame, first, header);
  if (!head.empty()) std::memcpy(frame.data() + head_at, head.data(), head.size());
  if (!body.empty()) std::memcpy(frame.data() + head_at + padded8(head.size()), body.data(), body.size());
}

/// Calls visit(header, head, body) for the entries of a frame in their order.
template <class Visit>
void for_each_entry(std::span<const std::byte> frame, Visit visit) {
  for (std::size_t at = sizeof(FrameHeader); at < frame.size();) {
    const auto header = value_at<EntryHeader>(frame, at);
    const auto head = frame.subspan(at + sizeof header, header.head_bytes);
    visit(header, head, frame.subspan(at + sizeof header + padded8(header.head_bytes), header.body_bytes));
    at += entry_bytes(header.head_bytes, header.body_bytes);
  }
}

}  // namespace tailrace::am
