// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/ownership.hpp"

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <set>

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

/// Loads are counted in parts of a number, so that half and third ones are exact: multiples of 1 to 8.
constexpr std::int64_t load_parts = 840;

/// Twice the greater of what a rank reads and of what is read of it, with so much more surplus.
std::int64_t work_of(const Standing& standing, std::int64_t more_surplus) noexcept {
  return standing.load + load_parts * std::abs(standing.surplus + more_surplus);
}

/// Whether the lower rank of a pair is to own what they share: the greater of what the two ranks read, and of
/// what is read of them, is less then.
bool low_owns(const Standing& low, const Standing& high, std::int64_t weight) noexcept {
  const auto most = [&](std::int64_t to_low) {
    return std::max(work_of(low, to_low), work_of(high, -to_low));
  };
  const std::int64_t with_low = most(weight), with_high = most(-weight);
  return with_low != with_high ? with_low < with_high : low.surplus <= high.surplus;
}

void decide(Standing& standing, int other, std::int64_t weight, bool owns) {
  standing.owns[other] = owns;
  standing.surplus += owns ? weight : -weight;
}

/// Of the pairs of a rank with these ranks, those that it owns less those that it does not.
int pairs_won(const Standing& standing, std::span<const int> ranks) noexcept {
  int won = 0;
  for (const int other : ranks)
    if (const auto found = standing.owns.find(other); found != standing.owns.end())
      won += found->second ? 1 : -1;
  return won;
}

/// Of these ranks one with at most so many pairs less than the one that has won most: the one that has least
/// to do for others.
int lightest_winner(std::span<const int> ranks, const Standings& standings, int slack) {
  std::vector<int> won;
  for (const int rank : ranks) won.push_back(pairs_won(standings.at(rank), ranks));
  const int enough = *std::max_element(won.begin(), won.end()) - slack;
  int best = -1;
  std::int64_t least = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Standing& standing = standings.at(ranks[i]);
    const std::int64_t work = standing.load + load_parts * standing.surplus;
    if (won[i] >= enough && (best < 0 || work < least)) best = ranks[i], least = work;
  }
  return best;
}

void add_loads(const Shares& shares, Standings& standings) {
  for (const auto& [ranks, count] : shares)
    for (const int rank : ranks) {
      const auto others = static_cast<std::int64_t>(ranks.size()) - 1;
      standings[rank].load += 2 * count * others * load_parts / (others + 1);
    }
}

/// What ranks own, less what they read, of what more than two ranks have.
std::map<int, std::int64_t> surpluses_of_many(const Shares& shares, const Standings& standings) {
  std::map<int, std::int64_t> surpluses;
  for (const auto& [ranks, count] : shares) {
    if (ranks.size() == 2) continue;
    const int owner = lightest_winner(ranks, standings, 0);
    for (const int rank : ranks)
      surpluses[rank] += rank == owner ? count * (static_cast<std::int64_t>(ranks.size()) - 1) : -count;
  }
  return surpluses;
}

/// The pairs that are not decided, the next one last.
std::vector<Pair> open_pairs(const Shares& shares) {
  std::vector<Pair> open;
  for (const auto& [ranks, count] : shares)
    if (ranks.size() == 2) open.push_back({count, ranks[0], ranks[1]});
  std::sort(open.begin(), open.end());
  return open;
}

/// Each rank writes to the other one of its next pair; where both mean the same pair, it is decided.
void decide_own_pairs(mpi::CommView comm, const Shares& shares, Standing& mine) {
  std::vector<Pair> open = open_pairs(shares);
  while (mpi::max(comm, std::int64_t{open.empty() ? 0 : 1}) == 1) {
    std::vector<mpi::Packet<std::int64_t>> word;
    const Pair next = open.empty() ? Pair{0, -1, -1} : open.back();
    const bool is_low = next.low == comm.rank();
    const int other = is_low ? next.high : next.low;
    if (!open.empty()) word.push_back({other, {mine.load, mine.surplus}});
    for (const auto& [rank, values] : mpi::deliver(comm, word)) {
      if (open.empty() || rank != other) continue;
      const Standing theirs{values.front(), values.back(), {}};
      const bool low = is_low ? low_owns(mine, theirs, next.weight) : low_owns(theirs, mine, next.weight);
      decide(mine, other, next.weight, low == is_low);
      open.pop_back();
      break;
    }
  }
}

std::vector<std::int64_t> packed(const Standing& standing) {
  std::vector<std::int64_t> values{standing.load, standing.surplus};
  for (const auto& [other, owns] : standing.owns) values.insert(values.end(), {other, owns ? 1 : 0});
  return values;
}

Standing unpacked(const std::vector<std::int64_t>& values) {
  Standing standing{values[0], values[1], {}};
  for (std::size_t i = 2; i + 1 < values.size(); i += 2)
    standing.owns[static_cast<int>(values[i])] = values[i + 1] == 1;
  return standing;
}

/// This rank's standing and those of all that it shares with. @collective{comm}
Standings exchange_standings(mpi::CommView comm, const Shares& shares, const Standing& mine) {
  std::set<int> neighbours;
  for (const auto& [ranks, count] : shares) neighbours.insert(ranks.begin(), ranks.end());
  neighbours.erase(comm.rank());
  std::vector<mpi::Packet<std::int64_t>> words;
  for (const int rank : neighbours) words.push_back({rank, packed(mine)});
  Standings standings{{comm.rank(), mine}};
  for (const auto& [rank, values] : mpi::deliver(comm, words)) standings[rank] = unpacked(values);
  return standings;
}

void decide_pairs(const Shares& shares, Standings& standings) {
  auto pairs = open_pairs(shares);
  for (; !pairs.empty(); pairs.pop_back()) {
    const auto& [weight, low, high] = pairs.back();
    const bool owned_by_low = low_owns(standings[low], standings[high], weight);
    decide(standings[low], high, weight, owned_by_low);
    decide(standings[high], low, weight, !owned_by_low);
  }
}

}  // namespace

Standings find_standings(const Shares& shares) {
  Standings standings;
  add_loads(shares, standings);
  decide_pairs(shares, standings);
  const auto surpluses = surpluses_of_many(shares, standings);
  for (auto& [rank, standing] : standings) {
    const auto found = surpluses.find(rank);
    standing.surplus = found == surpluses.end() ? 0 : found->second;
  }
  decide_pairs(shares, standings);
  return standings;
}

Standings find_standings(mpi::CommView comm, const Shares& shares) {
  Standings loads;
  add_loads(shares, loads);
  Standing mine = loads[comm.rank()];
  decide_own_pairs(comm, shares, mine);
  mine.surplus = surpluses_of_many(shares, exchange_standings(comm, shares, mine))[comm.rank()];
  decide_own_pairs(comm, shares, mine);
  return exchange_standings(comm, shares, mine);
}

int owner_among(std::span<const int> ranks, OwnerRule rule, const Standings& standings) {
  if (rule == OwnerRule::lowest_rank || ranks.size() == 1) return ranks.front();
  return lightest_winner(ranks, standings, 1);
}

}  // namespace tailrace::exchange
