// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include "exchange/message_area.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/packets.hpp"

namespace tailrace::exchange {

namespace {

/// A message on its way from one rank to another, through others.
struct Cargo {
  std::int64_t origin, target, bytes;
};

/// Cargo, and where it is: among the rank's own messages, or in what came in a stage.
struct Held {
  Cargo cargo;
  std::size_t place;  ///< own: the number of the message; else where it begins in the message of the stage
  int stage;          ///< that it came in, or `own`
};
constexpr int own = -1;

/// What a rank sends in one stage, and receives.
struct Stage {
  std::vector<Held> out;
  std::size_t to = 0, from = 0;  ///< numbers of the line beneath
  std::size_t out_bytes = 0, in_bytes = 0;
};

std::size_t total_bytes(const std::vector<Cargo>& list) {
  std::size_t bytes = 0;
  for (const Cargo& cargo : list) bytes += static_cast<std::size_t>(cargo.bytes);
  return bytes;
}

/// How messages travel: in stage k over 2^k ranks, if the distance that is left has this bit. So a rank sends
/// as many messages as the number of ranks has binary digits, whatever the number of its peers.
class Route {
 public:
  /// @collective{config.comm}. Cost: a delivery per stage.
  explicit Route(const LineConfig& config) : comm_(config.comm) {
    for (std::size_t i = 0; i < config.to.size(); ++i)
      held_.push_back(
          {{comm_.rank(), config.to[i].rank, static_cast<std::int64_t>(config.to[i].bytes)}, i, own});
    const auto digits = static_cast<int>(std::bit_width(static_cast<unsigned>(comm_.size() - 1)));
    for (int k = 0; k < digits; ++k) plan_stage(k);
    std::sort(held_.begin(), held_.end(),
              [](const Held& a, const Held& b) { return a.cargo.origin < b.cargo.origin; });
  }
  [[nodiscard]] const std::vector<Stage>& stages() const noexcept { return stages_; }
  /// What is for this rank, by its origin.
  [[nodiscard]] const std::vector<Held>& mine() const noexcept { return held_; }
  /// The line beneath: a message to each rank that something is handed to, and from each that hands over.
  [[nodiscard]] LineConfig beneath(const LineConfig& config) {
    LineConfig line = config;
    line.to.clear();
    line.from.clear();
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      if (stages_[k].out_bytes > 0) line.to.push_back({next(k), stages_[k].out_bytes});
      if (stages_[k].in_bytes > 0) line.from.push_back({before(k), stages_[k].in_bytes});
    }
    const auto by_rank = [](const Peer& a, const Peer& b) { return a.rank < b.rank; };
    std::sort(line.to.begin(), line.to.end(), by_rank);
    std::sort(line.from.begin(), line.from.end(), by_rank);
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      stages_[k].to = number_of(line.to, next(k));
      stages_[k].from = number_of(line.from, before(k));
    }
    return line;
  }

 private:
  [[nodiscard]] int next(std::size_t k) const { return (comm_.rank() + (1 << k)) % comm_.size(); }
  [[nodiscard]] int before(std::size_t k) const {
    return (comm_.rank() + comm_.size() - (1 << k)) % comm_.size();
  }
  static std::size_t number_of(const std::vector<Peer>& peers, int rank) {
    return static_cast<std::size_t>(
        std::find_if(peers.begin(), peers.end(), [&](const Peer& peer) { return peer.rank == rank; }) -
        peers.begin());
  }
  [[nodiscard]] bool leaves(const Held& held, int k) const {
    const auto left = static_cast<unsigned>((held.cargo.target - comm_.rank() + comm_.size()) % comm_.size());
    return (left >> static_cast<unsigned>(k) & 1U) != 0;
  }
  /// @collective{comm}
  void plan_stage(int k) {
    Stage stage;
    const auto split =
        std::stable_partition(held_.begin(), held_.end(), [&](const Held& one) { return !leaves(one, k); });
    stage.out.assign(split, held_.end());
    held_.erase(split, held_.end());
    std::vector<mpi::Packet<Cargo>> packets;
    if (!stage.out.empty()) packets.push_back({next(static_cast<std::size_t>(k)), {}});
    for (const Held& one : stage.out) packets.front().values.push_back(one.cargo);
    if (!packets.empty()) stage.out_bytes = total_bytes(packets.front().values);
    for (const auto& packet : mpi::deliver(comm_, packets)) {
      stage.in_bytes = total_bytes(packet.values);
      std::size_t at = 0;
      for (const Cargo& cargo : packet.values) {
        held_.push_back({cargo, at, k});
        at += static_cast<std::size_t>(cargo.bytes);
      }
    }
    stages_.push_back(std::move(stage));
  }

  mpi::CommView comm_;
  std::vector<Held> held_;
  std::vector<Stage> stages_;
};

/// Stores and forwards: for many small messages per rank, of which MPI then sends few.
class Router final : public Line {
 public:
  explicit Router(const LineConfig& config)
      : route_(config),
        beneath_(open_persistent(route_.beneath(config))),
        out_(config.to),
        messages_(config.to.size()),
        places_(sources()),
        come_(route_.stages().size()) {}

  void begin(std::span<std::byte* const>) override {
    beneath_->begin(places_);
    unsent_ = messages_;
    next_stage_ = 0;
    std::fill(come_.begin(), come_.end(), false);
    named_.assign(route_.mine().size(), false);
    carry_on();
  }
  std::byte* outgoing(std::size_t i) override { return out_[i]; }
  void send(std::size_t) override {
    --unsent_;
    carry_on();
  }
  std::optional<std::size_t> arrived() override {
    carry_on();
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (named_[i] || !come_[static_cast<std::size_t>(route_.mine()[i].stage)]) continue;
      named_[i] = true;
      return i;
    }
    return {};
  }
  const std::byte* incoming(std::size_t i) const override { return bytes_of(route_.mine()[i]); }
  bool end() override {
    carry_on();
    return next_stage_ == come_.size() && beneath_->end();
  }
  std::size_t memory_bytes() const noexcept override { return out_.size_bytes() + beneath_->memory_bytes(); }

 private:
  [[nodiscard]] std::vector<std::byte*> sources() const {
    const auto& stages = route_.stages();
    return std::vector<std::byte*>(static_cast<std::size_t>(
        std::count_if(stages.begin(), stages.end(), [](const Stage& one) { return one.in_bytes > 0; })));
  }
  [[nodiscard]] const std::byte* bytes_of(const Held& held) const {
    if (held.stage == own) return out_[held.place];
    return beneath_->incoming(route_.stages()[static_cast<std::size_t>(held.stage)].from) + held.place;
  }
  /// Takes what has come, and hands over what is complete: a stage, once all before it have come.
  void carry_on() {
    const auto& stages = route_.stages();
    while (const auto message = beneath_->arrived())
      for (std::size_t k = 0; k < stages.size(); ++k)
        if (stages[k].in_bytes > 0 && stages[k].from == *message) come_[k] = true;
    if (unsent_ > 0) return;
    for (; next_stage_ < stages.size(); ++next_stage_) {
      const Stage& stage = stages[next_stage_];
      if (next_stage_ > 0 && !has_come(next_stage_ - 1)) return;
      if (stage.out_bytes > 0) hand_over(stage);
    }
  }
  [[nodiscard]] bool has_come(std::size_t k) const { return route_.stages()[k].in_bytes == 0 || come_[k]; }
  void hand_over(const Stage& stage) {
    std::byte* at = beneath_->outgoing(stage.to);
    for (const Held& held : stage.out) {
      const auto bytes = static_cast<std::size_t>(held.cargo.bytes);
      std::memcpy(at, bytes_of(held), bytes);
      at += bytes;
    }
    beneath_->send(stage.to);
  }

  Route route_;
  std::unique_ptr<Line> beneath_;
  MessageArea out_;
  std::size_t messages_;            ///< of this rank's own
  std::vector<std::byte*> places_;  ///< none: what comes in a stage has no place of the caller's
  std::vector<bool> come_;          ///< stages
  std::vector<bool> named_;         ///< messages of this round that the caller knows of
  std::size_t unsent_ = 0, next_stage_ = 0;
};

}  // namespace

std::unique_ptr<Line> open_router(LineConfig config) {
  return std::make_unique<Router>(config);
}

}  // namespace tailrace::exchange
