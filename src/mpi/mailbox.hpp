// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// Messages of varying size, one in each round to every one of some ranks, and from every one of some. A
/// message goes whole up to the size that both sides expect; one that is larger takes two, and raises
/// the expectation. So no sizes are sent ahead.
class Mailbox {
 public:
  /// `tag`: of its messages alone on `comm`.
  Mailbox(CommView comm, int tag) : comm_(comm), tag_(tag) {}
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Has other partners from now on, between rounds. A rank's list to send to names those whose list to
  /// receive from names it.
  void reset(std::span<const int> to, std::span<const int> from);
  [[nodiscard]] std::size_t receivers() const noexcept { return to_.size(); }
  [[nodiscard]] std::size_t senders() const noexcept { return from_.size(); }
  [[nodiscard]] int receiver(std::size_t i) const noexcept { return to_[i].rank; }
  [[nodiscard]] int sender(std::size_t i) const noexcept { return from_[i].rank; }

  /// Begins a round. @neighbour, does not wait.
  void start();
  /// Returns where the message to receiver `i` is appended; something precedes it. After `start`.
  [[nodiscard]] std::vector<std::byte>& outgoing(std::size_t i) noexcept { return to_[i].bytes; }
  /// Sends it: every receiver gets one message in each round. @neighbour, does not wait.
  void send(std::size_t i);
  /// Waits for the round's messages, sent and received. @neighbour
  void finish();
  /// The message of sender `i`, 8 byte aligned, until the next round.
  [[nodiscard]] std::span<const std::byte> incoming(std::size_t i) const noexcept;
  /// Memory of the messages. @local
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  struct Partner {
    int rank = 0;
    std::size_t expected_bytes = 0;
    std::vector<std::byte> bytes;
    void expect(std::size_t size_bytes);
  };
  static std::size_t size_of(const Partner& partner) noexcept;

  CommView comm_;
  int tag_;
  std::vector<Partner> to_, from_;
  std::vector<Request> sending_, receiving_;
};

}  // namespace tailrace::mpi
