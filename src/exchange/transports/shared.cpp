// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>

#include "exchange/transports/slot.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/packets.hpp"

namespace tailrace::exchange {

namespace {

std::size_t bytes_for(const std::vector<Peer>& from) {
  std::size_t bytes = 0;
  for (const Peer& peer : from) bytes += Slot::size_bytes(peer.bytes);
  return bytes;
}

/// Between ranks of one node: the sender writes into the receiver's memory.
class Shared final : public Line {
 public:
  Shared(LineConfig config, mpi::SharedMemory memory)
      : config_(std::move(config)), memory_(std::move(memory)), named_(config_.from.size()) {
    place_incoming();
    find_outgoing();
  }

  void begin(std::span<std::byte* const>) override {
    ++round_;
    std::fill(named_.begin(), named_.end(), false);
  }
  std::byte* outgoing(std::size_t i) override {
    return out_[i].has_room(round_) ? out_[i].message(round_) : nullptr;
  }
  void send(std::size_t i) override { out_[i].send(round_); }
  std::optional<std::size_t> arrived() override {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (named_[i] || !in_[i].has_come(round_)) continue;
      named_[i] = true;
      return i;
    }
    return {};
  }
  const std::byte* incoming(std::size_t i) const override { return in_[i].message(round_); }
  bool end() override {
    for (const Slot& slot : in_) slot.give_back(round_);
    return true;
  }
  std::size_t memory_bytes() const noexcept override { return bytes_for(config_.from); }

 private:
  [[nodiscard]] std::byte* part_of(int rank) const {
    const auto& ranks = config_.node->ranks();
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (ranks[i] == rank) return memory_.part(static_cast<int>(i));
    throw std::logic_error("a peer of another node");
  }
  void place_incoming() {
    std::byte* at = part_of(config_.comm.rank());
    for (const Peer& peer : config_.from) {
      in_.push_back({at, peer.bytes});
      in_.back().clear();
      at += Slot::size_bytes(peer.bytes);
    }
  }
  /// Every receiver lets its senders know where their slots are.
  void find_outgoing() {
    std::vector<mpi::Packet<std::int64_t>> mine;
    for (std::size_t i = 0; i < in_.size(); ++i)
      mine.push_back({config_.from[i].rank, {in_[i].first - part_of(config_.comm.rank())}});
    const auto theirs = mpi::deliver(config_.comm, mine);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      out_.push_back({part_of(theirs[i].rank) + theirs[i].values.front(), config_.to[i].bytes});
  }

  LineConfig config_;
  mpi::SharedMemory memory_;
  std::vector<Slot> out_, in_;
  std::vector<bool> named_;  ///< messages of this round that the caller knows of
  std::uint64_t round_ = 0;
};

}  // namespace

std::unique_ptr<Line> open_shared(LineConfig config) {
  auto memory = mpi::SharedMemory::allocate(*config.node, bytes_for(config.from));
  if (mpi::min(config.comm, std::int64_t{memory ? 1 : 0}) == 0) return nullptr;
  return std::make_unique<Shared>(std::move(config), std::move(*memory));
}

}  // namespace tailrace::exchange
