// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/aligned.hpp"

namespace tailrace::exchange {

/// What the receiver of a message has for it in memory that the sender shares: counters of the rounds that
/// were written and that were read, each on a cache line of its own, then room for the messages of two
/// rounds. Order: a message is written before `written` says so (release), and read after (acquire); likewise
/// `read` gives its memory back. Rounds count from 1. One sender, one receiver.
struct Slot {
  std::byte* first = nullptr;
  std::size_t bytes = 0;

  static std::size_t size_bytes(std::size_t message_bytes) {
    return 2 * alignment_bytes + 2 * padded<std::byte>(message_bytes);
  }
  /// Before anybody else knows of it.
  void clear() const {
    written().store(0);
    read().store(0);
  }
  [[nodiscard]] std::byte* message(std::uint64_t round) const {
    return first + 2 * alignment_bytes + round % 2 * padded<std::byte>(bytes);
  }

  /// Of the sender: whether it may write the message of a round; that it has.
  [[nodiscard]] bool has_room(std::uint64_t round) const {
    constexpr std::uint64_t rounds_in_memory = 2;
    return read().load(std::memory_order_acquire) + rounds_in_memory >= round;
  }
  void send(std::uint64_t round) const { written().store(round, std::memory_order_release); }

  /// Of the receiver: whether the message of a round is there; that it has read it.
  [[nodiscard]] bool has_come(std::uint64_t round) const {
    return written().load(std::memory_order_acquire) >= round;
  }
  void give_back(std::uint64_t round) const { read().store(round, std::memory_order_release); }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> written() const { return counter(0); }
  [[nodiscard]] std::atomic_ref<std::uint64_t> read() const { return counter(alignment_bytes); }
  [[nodiscard]] std::atomic_ref<std::uint64_t> counter(std::size_t at) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(first + at));
  }
};

}  // namespace tailrace::exchange
