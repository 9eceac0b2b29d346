// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/ownership.hpp"

#include <algorithm>
#include <tuple>

#include "mpi/packets.hpp"

namespace tailrace::exchange {

namespace {

/// Two ranks and what they alone share. The order in which pairs are decided is the same for all who see
/// them.
struct Pair {
  std::int64_t weight;
  int low, high;

  friend auto operator<=>(const Pair&, const Pair&) = default;
};

bool low_owns(std::int64_t surplus_of_low, std::int64_t surplus_of_high) noexcept {
  return surplus_of_low <= surplus_of_high;
}

void decide(Standing& standing, int other, std::int64_t weight, bool owns) {
  standing.owns[other] = owns;
  standing.surplus += owns ? weight : -weight;
}

/// The pairs of one rank that are not decided, the next one last.
std::vector<Pair> open_pairs(int rank, const std::map<int, std::int64_t>& weights) {
  std::vector<Pair> open;
  for (const auto& [other, weight] : weights)
    open.push_back({weight, std::min(rank, other), std::max(rank, other)});
  std::sort(open.begin(), open.end());
  return open;
}

/// Each rank writes to the other one of its next pair; where both mean the same pair, it is decided.
Standing decide_own_pairs(mpi::CommView comm, const std::map<int, std::int64_t>& weights) {
  Standing mine;
  std::vector<Pair> open = open_pairs(comm.rank(), weights);
  while (mpi::max(comm, std::int64_t{open.empty() ? 0 : 1}) == 1) {
    std::vector<mpi::Packet<std::int64_t>> word;
    const Pair next = open.empty() ? Pair{0, -1, -1} : open.back();
    const bool is_low = next.low == comm.rank();
    const int other = is_low ? next.high : next.low;
    if (!open.empty()) word.push_back({other, {mine.surplus}});
    for (const auto& [rank, values] : mpi::deliver(comm, word)) {
      if (open.empty() || rank != other) continue;
      const std::int64_t theirs = values.front();
      const bool low = is_low ? low_owns(mine.surplus, theirs) : low_owns(theirs, mine.surplus);
      decide(mine, other, next.weight, low == is_low);
      open.pop_back();
      break;
    }
  }
  return mine;
}

std::vector<std::int64_t> packed(const Standing& standing) {
  std::vector<std::int64_t> values{standing.surplus};
  for (const auto& [other, owns] : standing.owns) values.insert(values.end(), {other, owns ? 1 : 0});
  return values;
}

Standing unpacked(const std::vector<std::int64_t>& values) {
  Standing standing{values.front(), {}};
  for (std::size_t i = 1; i + 1 < values.size(); i += 2)
    standing.owns[static_cast<int>(values[i])] = values[i + 1] == 1;
  return standing;
}

/// Of the pairs of a rank with these ranks, those that it owns less those that it does not.
int pairs_won(const Standing& standing, std::span<const int> ranks) noexcept {
  int won = 0;
  for (const int other : ranks)
    if (const auto found = standing.owns.find(other); found != standing.owns.end())
      won += found->second ? 1 : -1;
  return won;
}

}  // namespace

Standings decide_pairs(const PairWeights& weights) {
  std::vector<Pair> pairs;
  for (const auto& [ranks, weight] : weights) pairs.push_back({weight, ranks.first, ranks.second});
  std::sort(pairs.rbegin(), pairs.rend());
  Standings standings;
  for (const auto& [weight, low, high] : pairs) {
    const bool owned_by_low = low_owns(standings[low].surplus, standings[high].surplus);
    decide(standings[low], high, weight, owned_by_low);
    decide(standings[high], low, weight, !owned_by_low);
  }
  return standings;
}

Standings decide_pairs(mpi::CommView comm, const std::map<int, std::int64_t>& weights,
                       std::span<const int> neighbours) {
  Standings standings;
  standings[comm.rank()] = decide_own_pairs(comm, weights);
  std::vector<mpi::Packet<std::int64_t>> words;
  for (const int rank : neighbours) words.push_back({rank, packed(standings[comm.rank()])});
  for (const auto& [rank, values] : mpi::deliver(comm, words)) standings[rank] = unpacked(values);
  return standings;
}

int owner_among(std::span<const int> ranks, OwnerRule rule, const Standings& standings) noexcept {
  if (rule == OwnerRule::lowest_rank || ranks.size() == 1) return ranks.front();
  static const Standing none;
  const auto merit = [&](int rank) {
    const auto found = standings.find(rank);
    const Standing& standing = found == standings.end() ? none : found->second;
    return std::tuple(-pairs_won(standing, ranks), standing.surplus, rank);
  };
  return *std::min_element(ranks.begin(), ranks.end(), [&](int a, int b) { return merit(a) < merit(b); });
}

}  // namespace tailrace::exchange
