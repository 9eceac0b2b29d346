// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "exchange/transports/transports.hpp"

namespace tailrace::exchange {

namespace {

/// Which of some peers a line serves, and by which numbers it knows them.
struct Side {
  std::unique_ptr<Line> line;
  std::vector<std::size_t> to, from;  ///< numbers of the whole, by those of the line
};

/// Two lines as one.
class Divided final : public Line {
 public:
  Divided(Side near, Side far, std::size_t to, std::size_t from)
      : sides_{std::move(near), std::move(far)}, to_(to), from_(from) {
    for (Side& side : sides_) {
      for (std::size_t i = 0; i < side.to.size(); ++i) to_[side.to[i]] = {side.line.get(), i};
      for (std::size_t i = 0; i < side.from.size(); ++i) from_[side.from[i]] = {side.line.get(), i};
    }
  }
  void begin(std::span<std::byte* const> places) override {
    for (Side& side : sides_) {
      part_.clear();
      for (const std::size_t i : side.from) part_.push_back(places[i]);
      side.line->begin(part_);
    }
  }
  std::byte* outgoing(std::size_t i) override { return to_[i].line->outgoing(to_[i].number); }
  void send(std::size_t i) override { to_[i].line->send(to_[i].number); }
  void wait_for_others() override {
    for (Side& side : sides_) side.line->wait_for_others();
  }
  std::optional<std::size_t> arrived() override {
    for (Side& side : sides_)
      if (const auto i = side.line->arrived()) return side.from[*i];
    return {};
  }
  const std::byte* incoming(std::size_t i) const override { return from_[i].line->incoming(from_[i].number); }
  bool end() override {
    // Both, as the first one may have ended before.
    const bool near = sides_[0].line->end(), far = sides_[1].line->end();
    return near && far;
  }
  std::size_t memory_bytes() const noexcept override {
    return sides_[0].line->memory_bytes() + sides_[1].line->memory_bytes();
  }

 private:
  struct Part {
    Line* line = nullptr;
    std::size_t number = 0;
  };
  std::array<Side, 2> sides_;
  std::vector<Part> to_, from_;
  std::vector<std::byte*> part_;
};

/// The peers for which `wanted` is true, and their numbers.
template <class Wanted>
std::vector<Peer> pick(const std::vector<Peer>& peers, std::vector<std::size_t>& numbers, Wanted wanted) {
  std::vector<Peer> picked;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (!wanted(peers[i].rank)) continue;
    picked.push_back(peers[i]);
    numbers.push_back(i);
  }
  return picked;
}

}  // namespace

std::unique_ptr<Line> open_divided(LineConfig config, std::unique_ptr<Line> (*far)(LineConfig)) {
  const auto& ranks = config.node->ranks();
  const auto is_near = [&](int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); };
  const auto is_far = [&](int rank) { return !is_near(rank); };
  Side near_side, far_side;
  LineConfig near_config = config, far_config = config;
  near_config.to = pick(config.to, near_side.to, is_near),
  near_config.from = pick(config.from, near_side.from, is_near);
  far_config.to = pick(config.to, far_side.to, is_far),
  far_config.from = pick(config.from, far_side.from, is_far);
  near_side.line = open_shared(std::move(near_config));
  if (!near_side.line) {
    if (config.no_shared_memory != nullptr) *config.no_shared_memory = true;
    return far(std::move(config));
  }
  far_side.line = far(std::move(far_config));
  return std::make_unique<Divided>(std::move(near_side), std::move(far_side), config.to.size(),
                                   config.from.size());
}

}  // namespace tailrace::exchange
