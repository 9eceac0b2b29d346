// SPDX-License-Identifier: BSD-3-Clause
#include "mesh_changes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "exchange_ownership.hpp"

namespace tailrace::bench {

namespace {

constexpr std::int64_t leaf_bytes = 16, values_bytes = 125 * 8, key_bytes = 24, number_bytes = 8;

/// Morton's curve, x fastest.
std::uint64_t key_of(const std::array<std::int32_t, 3>& low) noexcept {
  std::uint64_t key = 0;
  for (unsigned bit = 0; bit < 21; ++bit)
    for (unsigned axis = 0; axis < 3; ++axis)
      key |= (static_cast<std::uint64_t>(low[axis]) >> bit & 1U) << (3 * bit + axis);
  return key;
}
std::uint64_t end_key_of(const Leaf& leaf) noexcept {
  const auto size = static_cast<std::uint64_t>(leaf.size);
  return key_of(leaf.low) + size * size * size;
}

/// Leaves in equal blocks of the curve.
class Shares {
 public:
  Shares(const std::vector<Leaf>& leaves, int ranks) {
    const auto count = static_cast<std::int64_t>(leaves.size());
    for (int rank = 0; rank < ranks; ++rank)
      ranks_.resize(static_cast<std::size_t>(count * (rank + 1) / ranks), rank);
    for (const Leaf& leaf : leaves) keys_.push_back(key_of(leaf.low));
  }
  [[nodiscard]] int rank_of(std::size_t leaf) const noexcept { return ranks_[leaf]; }
  /// Calls visit(rank) for the ranks with leaves in the region of a cube, ascending.
  template <class Visit>
  void for_each_owner(const Leaf& cube, Visit visit) const {
    const auto first = std::upper_bound(keys_.begin(), keys_.end(), key_of(cube.low)) - 1,
               behind = std::lower_bound(first, keys_.end(), end_key_of(cube));
    int last = -1;
    for (auto at = first - keys_.begin(); at < behind - keys_.begin(); ++at)
      if (const int rank = ranks_[static_cast<std::size_t>(at)]; rank != std::exchange(last, rank))
        visit(rank);
  }

 private:
  std::vector<int> ranks_;
  std::vector<std::uint64_t> keys_;
};

/// What each rank sends to each other one.
using Pairs = std::map<std::pair<int, int>, std::int64_t>;

/// Packets of items of one size.
Sent sent_as(const Pairs& pairs, std::int64_t item_bytes) {
  std::map<int, std::pair<std::int64_t, std::int64_t>> by_rank;
  for (const auto& [pair, items] : pairs) {
    by_rank[pair.first].first += items;
    ++by_rank[pair.first].second;
  }
  Sent sent;
  for (const auto& [rank, found] : by_rank) sent.add(found.first, found.second, found.first * item_bytes);
  return sent;
}

Sent transfer(const std::vector<Leaf>& leaves, const Shares& from, const Shares& to) {
  Pairs pairs;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    to.for_each_owner(leaves[i], [&](int rank) {
      if (rank != from.rank_of(i)) ++pairs[{from.rank_of(i), rank}];
    });
  return sent_as(pairs, leaf_bytes + values_bytes);
}

/// Which leaves of a rank may touch some of another one's: those of which a cube of the same size beside them
/// is the other's, also in part.
using Rims = std::map<std::pair<int, int>, std::vector<std::size_t>>;

Rims rims_of(const std::vector<Leaf>& leaves, const Shares& shares) {
  Rims rims;
  const std::int32_t whole = leaves.empty() ? 0 : leaves.back().low[0] + leaves.back().size;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    for (std::int32_t at = 0; at < 27; ++at) {
      Leaf cube = leaves[i];
      const std::array<std::int32_t, 3> step{at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1};
      for (std::size_t axis = 0; axis < 3; ++axis) cube.low[axis] += step[axis] * cube.size;
      if (std::any_of(cube.low.begin(), cube.low.end(),
                      [whole](std::int32_t low) { return low < 0 || low >= whole; }))
        continue;
      shares.for_each_owner(cube, [&](int rank) {
        if (rank == shares.rank_of(i)) return;
        auto& list = rims[{shares.rank_of(i), rank}];
        if (list.empty() || list.back() != i) list.push_back(i);
      });
    }
  return rims;
}

/// What a rank offers to another one: the first points of vertices, edges and faces, each once.
std::vector<std::int64_t> keys_of(const Mortars& mortars, const std::vector<std::size_t>& leaves) {
  std::vector<std::int64_t> keys;
  for (const std::size_t leaf : leaves)
    for (std::int64_t i = mortars.first[leaf]; i < mortars.first[leaf + 1]; ++i)
      if (const auto point = mortars.indices[static_cast<std::size_t>(i)];
          mortars.begins[static_cast<std::size_t>(point)])
        keys.push_back(point);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// Keys that are offered, and the numbers with which their owners answer.
Sent numbering(const Mortars& mortars, const Rims& rims, int ranks) {
  const auto owners = owners_of(mortars, ranks, exchange::OwnerRule::lowest_rank);
  struct OfRank {
    std::int64_t keys = 0, messages = 0, numbers = 0;
  };
  std::vector<OfRank> by_rank(static_cast<std::size_t>(ranks));
  for (const auto& [pair, leaves] : rims) {
    const auto keys = keys_of(mortars, leaves);
    auto& asks = by_rank[static_cast<std::size_t>(pair.first)];
    asks.keys += static_cast<std::int64_t>(keys.size());
    ++asks.messages;
    const auto answered = std::count_if(keys.begin(), keys.end(), [&](std::int64_t point) {
      return owners[static_cast<std::size_t>(point)] == pair.second;
    });
    auto& answers = by_rank[static_cast<std::size_t>(pair.second)];
    answers.numbers += answered;
    answers.messages += answered > 0 ? 1 : 0;
  }
  Sent sent;
  for (const auto& rank : by_rank)
    sent.add(rank.keys, rank.messages, rank.keys * key_bytes + rank.numbers * number_bytes);
  return sent;
}

}  // namespace

std::vector<std::vector<std::int64_t>> first_touched(const Mortars& mortars, int ranks) {
  std::vector<std::vector<std::int64_t>> points(static_cast<std::size_t>(ranks));
  const auto owners = owners_of(mortars, ranks, exchange::OwnerRule::lowest_rank);
  for (std::size_t point = 0; point < owners.size(); ++point)
    points[static_cast<std::size_t>(owners[point])].push_back(static_cast<std::int64_t>(point));
  return points;
}

void Sent::add(std::int64_t of_items, std::int64_t in_messages, std::int64_t of_bytes) {
  items += of_items, messages += in_messages, bytes += of_bytes;
  max_items = std::max(max_items, of_items);
  max_messages = std::max(max_messages, in_messages);
  max_bytes = std::max(max_bytes, of_bytes);
}

MeshChange mesh_change(const std::vector<Leaf>& from, const std::vector<Leaf>& to, const Mortars& mortars,
                       int ranks) {
  const Shares before(from, ranks), after(to, ranks);
  const auto rims = rims_of(to, after);
  Pairs shown;
  for (const auto& [pair, leaves] : rims) shown[pair] = static_cast<std::int64_t>(leaves.size());
  return {transfer(from, before, after), sent_as(shown, leaf_bytes), numbering(mortars, rims, ranks)};
}

}  // namespace tailrace::bench
