// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tailrace/box.hpp"

namespace tailrace::output {

/// Describes what a packet carries to the file.
enum class PacketKind : std::uint32_t {
  chunk,        ///< a whole chunk, filtered
  values,       ///< values of chunks that several ranks share
  rows,         ///< some of this rank's records of a sample
  commit_mark,  ///< this rank's samples were all sent up to a step
  flush,        ///< put all complete chunks onto the device
  save,         ///< the same of everything, chunks that take more samples too
};

/// The beginning of each packet, as it is sent.
struct PacketHead {
  PacketKind kind = PacketKind::commit_mark;
  std::uint32_t skipped = 0;  ///< chunk: filters that were not applied
  std::uint64_t dataset = 0;  ///< chunk, records: their dataset
  std::int64_t number = 0;    ///< chunk: its number in the dataset; records: of the sample; record: the step
  StepIndex step = 0;         ///< refers to the job that it comes from
};

/// The beginning of each extent of neighbouring values in a packet of values.
struct ExtentHead {
  std::uint64_t dataset = 0;
  std::int64_t offset_bytes = 0, bytes = 0;
};

/// A message on its way to the rank that has the file open.
struct Packet {
  std::vector<std::byte> message;  ///< the head, then the content
  int source = 0;                  ///< rank that it comes from
  /// Number of the commit mark that ends the part of the sender's output that it belongs to.
  std::int64_t part = 0;

  [[nodiscard]] PacketHead head() const noexcept;
  [[nodiscard]] std::span<const std::byte> content() const noexcept;
  [[nodiscard]] std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(message.size()); }
};

Packet make_packet(const PacketHead& head, std::span<const std::byte> content = {});
/// Adds values to a packet of values.
void add_extent(Packet& packet, const ExtentHead& head, std::span<const std::byte> bytes);
/// Calls `action(head, bytes)` for each extent of a packet of values.
template <class Action>
void for_each_extent(const Packet& packet, const Action& action);
/// Takes the first extent off `content`, which is not empty.
std::pair<ExtentHead, std::span<const std::byte>> next_extent(std::span<const std::byte>& content) noexcept;

template <class Action>
void for_each_extent(const Packet& packet, const Action& action) {
  for (auto content = packet.content(); !content.empty();) {
    const auto [head, bytes] = next_extent(content);
    action(head, bytes);
  }
}

/// Packets between two threads, of at most so many bytes. What was taken out counts until it is released.
class PacketQueue {
 public:
  /// A packet larger than `capacity_bytes` has room when there is no other.
  explicit PacketQueue(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Sets room aside for a packet that will be put in; false if there is none. @local
  bool reserve(std::int64_t bytes);
  /// Puts in a packet for which there is room. @local
  void put(Packet packet);
  /// The next packet, or nothing. @local
  std::optional<Packet> try_take();
  /// The next packet; waits for one for `limit_s` seconds at most, or until the queue is closed. @local
  std::optional<Packet> take_within(double limit_s);
  /// Gives back the room of a packet that was taken out. @local
  void release(std::int64_t bytes);
  /// Waits until a packet of this size may have room. @local
  void wait_for_room(std::int64_t bytes);
  /// Nothing more will be put in. @local
  void close();
  /// From now on everything has room and is thrown away. @local
  void discard();
  /// True if nothing is in it and everything taken out was released. @local
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool closed() const;

 private:
  [[nodiscard]] bool has_room(std::int64_t bytes) const {
    return discards_ || used_bytes_ == 0 || used_bytes_ + bytes <= capacity_bytes_;
  }

  std::int64_t capacity_bytes_, used_bytes_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Packet> packets_;
  bool closed_ = false, discards_ = false;
};

}  // namespace tailrace::output
