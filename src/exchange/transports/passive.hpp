// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "exchange/message_area.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/packets.hpp"
#include "mpi/window.hpp"

/// What one-sided transports share.
namespace tailrace::exchange {

/// Sends each of `to` a number; returns those that come, by rank. @collective{comm}
inline std::vector<std::size_t> numbers_from_peers(mpi::CommView comm, const std::vector<Peer>& to,
                                                   const std::vector<std::size_t>& mine) {
  std::vector<mpi::Packet<std::size_t>> packets;
  for (std::size_t i = 0; i < to.size(); ++i) packets.push_back({to[i].rank, {mine[i]}});
  std::vector<std::size_t> numbers;
  for (const auto& packet : mpi::deliver(comm, packets)) numbers.push_back(packet.values.front());
  return numbers;
}

/// Calls `move(batch, at)` for batches of a message of so many bytes, or with 0 for all of it.
template <class Bytes, class Move>
void for_each_batch(Bytes message, std::size_t batch_bytes, Move move) {
  const std::size_t each = batch_bytes == 0 ? message.size() : batch_bytes;
  for (std::size_t at = 0; at < message.size(); at += each)
    move(message.subspan(at, std::min(each, message.size() - at)), at);
}

template <class Memory>
void put_in_batches(Memory& memory, std::span<const std::byte> message, std::size_t batch_bytes, int rank,
                    std::size_t offset_bytes) {
  for_each_batch(message, batch_bytes, [&](std::span<const std::byte> batch, std::size_t at) {
    memory.put(batch, rank, offset_bytes + at);
  });
}

/// Counters of rounds in a window, each on a cache line of its own. Whoever writes one does so with a put.
class Counters {
 public:
  explicit Counters(std::byte* first) : first_(first) {}
  static std::size_t size_bytes(std::size_t count) { return count * alignment_bytes; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(first_ + i * alignment_bytes))
        .load(std::memory_order_acquire);
  }

 private:
  std::byte* first_;
};

/// A window that all may write to while it lives.
class PassiveWindow : public mpi::Window {
 public:
  PassiveWindow(mpi::CommView comm, std::size_t bytes) : Window(comm, bytes) { lock_all(); }
  PassiveWindow(const PassiveWindow&) = delete;
  PassiveWindow& operator=(const PassiveWindow&) = delete;
  ~PassiveWindow() {
    if (std::uncaught_exceptions() == 0) unlock_all();
  }
  using Window::put;
  void put(const std::uint64_t& number, int rank, std::size_t offset_bytes) {
    Window::put(std::as_bytes(std::span(&number, 1)), rank, offset_bytes);
  }
  /// Where it begins, as others count for `put`.
  [[nodiscard]] static std::size_t origin_bytes() noexcept { return 0; }
};

/// What transports share that write into the memory of others, who take no part in it. Such memory
/// (`PassiveWindow` or `mpi::SymmetricMemory`) holds, in this order: for each sender a counter of the rounds
/// whose message is there, for each receiver one of the rounds whose message it has read, the messages.
template <class Memory>
class Passive : public Line {
 public:
  Passive(LineConfig config, const std::vector<Peer>& stored)
      : config_(std::move(config)),
        places_(message_offsets(stored)),
        counters_bytes_(Counters::size_bytes(config_.from.size() + config_.to.size())),
        memory_(config_.comm, counters_bytes_ + places_.back()),
        counters_(memory_.data()),
        named_(config_.from.size()) {
    std::vector<std::size_t> there_at, read_at;
    for (std::size_t i = 0; i < config_.from.size(); ++i)
      there_at.push_back(memory_.origin_bytes() + Counters::size_bytes(i));
    for (std::size_t i = 0; i < config_.to.size(); ++i)
      read_at.push_back(memory_.origin_bytes() + Counters::size_bytes(config_.from.size() + i));
    there_at_ = numbers_from_peers(config_.comm, config_.from, there_at);
    read_at_ = numbers_from_peers(config_.comm, config_.to, read_at);
  }

  void begin(std::span<std::byte* const>) override {
    ++round_;
    std::fill(named_.begin(), named_.end(), false);
  }
  std::optional<std::size_t> arrived() override {
    memory_.sync();
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (named_[i] || counters_[i] < round_) continue;
      named_[i] = true;
      fetch(i);
      return i;
    }
    return {};
  }
  bool end() override {
    for (std::size_t i = 0; i < config_.from.size(); ++i) notify(config_.from[i].rank, read_at_[i]);
    return true;
  }

 protected:
  /// The message of sender i is where the transport stores messages.
  virtual void fetch(std::size_t) {}
  /// Returns whether receiver i has read the message of the round before.
  [[nodiscard]] bool was_read(std::size_t i) {
    memory_.sync();
    return counters_[config_.from.size() + i] + 1 >= round_;
  }
  void notify_receiver(std::size_t i) { notify(config_.to[i].rank, there_at_[i]); }
  [[nodiscard]] const LineConfig& config() const noexcept { return config_; }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }
  /// Where message i is, as others count for `put`, and its memory.
  [[nodiscard]] std::size_t place(std::size_t i) const noexcept {
    return memory_.origin_bytes() + counters_bytes_ + places_[i];
  }
  [[nodiscard]] std::byte* stored(std::size_t i) const noexcept {
    return memory_.data() + counters_bytes_ + places_[i];
  }
  [[nodiscard]] std::size_t stored_bytes() const noexcept { return counters_bytes_ + places_.back(); }
  [[nodiscard]] std::vector<std::size_t> places(std::size_t count) const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(place(i));
    return list;
  }

 private:
  /// Writes the number of the round into another rank's memory.
  void notify(int rank, std::size_t offset) {
    memory_.put(round_, rank, offset);
    memory_.flush(rank);
  }

  LineConfig config_;
  std::vector<std::size_t> places_;
  std::size_t counters_bytes_;
  Memory memory_;
  Counters counters_;
  /// Where the counters for this rank's news are, as others count.
  std::vector<std::size_t> there_at_, read_at_;
  std::vector<bool> named_;
  std::uint64_t round_ = 0;
};

}  // namespace tailrace::exchange
