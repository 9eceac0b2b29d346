// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_ownership.hpp"

#include <algorithm>
#include <utility>

#include "exchange/ownership.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

using namespace exchange;

/// Calls visit(rank, place) for each place in the list of indices, rank by rank.
template <class Visit>
void for_each_place(const Mortars& mortars, int ranks, Visit visit) {
  for (int rank = 0; rank < ranks; ++rank) {
    const Range part = elements_of_rank(mortars, ranks, rank);
    const auto begin = static_cast<std::size_t>(mortars.first[static_cast<std::size_t>(part.begin)]),
               end = static_cast<std::size_t>(mortars.first[static_cast<std::size_t>(part.end)]);
    for (std::size_t place = begin; place < end; ++place) visit(rank, place);
  }
}

}  // namespace

std::vector<int> owners_of(const Mortars& mortars, int ranks, OwnerRule rule) {
  std::vector<std::vector<int>> touching(static_cast<std::size_t>(mortars.points));
  for_each_place(mortars, ranks, [&](int rank, std::size_t place) {
    auto& list = touching[static_cast<std::size_t>(mortars.indices[place])];
    if (list.empty() || list.back() != rank) list.push_back(rank);
  });
  Shares shares;
  for (const auto& list : touching)
    if (list.size() > 1) ++shares[list];
  const auto standings = find_standings(shares);
  std::vector<int> owners;
  owners.reserve(touching.size());
  for (const auto& list : touching) owners.push_back(owner_among(list, rule, standings));
  return owners;
}

namespace {

/// Numbers the points by their owners, so that each rank has a contiguous share.
OwnedMortars own_among_touching(const Mortars& mortars, int ranks, OwnerRule rule) {
  const auto owners = owners_of(mortars, ranks, rule);
  std::vector<std::int64_t> number(owners.size(), -1), starts(static_cast<std::size_t>(ranks) + 1);
  std::int64_t next = 0;
  for_each_place(mortars, ranks, [&](int rank, std::size_t place) {
    const auto point = static_cast<std::size_t>(mortars.indices[place]);
    if (owners[point] == rank && number[point] < 0) number[point] = next++;
    starts[static_cast<std::size_t>(rank) + 1] = next;
  });
  for (std::size_t rank = 1; rank < starts.size(); ++rank)
    starts[rank] = std::max(starts[rank], starts[rank - 1]);
  OwnedMortars owned{Starts(std::move(starts)), mortars.indices};
  for (auto& index : owned.indices) index = number[static_cast<std::size_t>(index)];
  return owned;
}

}  // namespace

Range elements_of_rank(const Mortars& mortars, int ranks, int rank) {
  const auto elements = static_cast<std::int64_t>(mortars.first.size()) - 1;
  return {elements * rank / ranks, elements * (rank + 1) / ranks};
}

std::vector<std::int64_t> OwnedMortars::of_rank(const Mortars& mortars, int rank) const {
  const Range part = elements_of_rank(mortars, distribution.ranks(), rank);
  return {indices.begin() + mortars.first[static_cast<std::size_t>(part.begin)],
          indices.begin() + mortars.first[static_cast<std::size_t>(part.end)]};
}

const std::vector<std::string>& ownership_rules() {
  static const std::vector<std::string> names{
      "block", "cyclic", "double_block", "reversed_double_block", "lowest_rank", "balanced"};
  return names;
}

OwnedMortars own(const Mortars& mortars, const std::string& rule, int ranks) {
  const std::int64_t others = mortars.points - mortars.vertices;
  if (rule == "block") return {Block(mortars.points, ranks), mortars.indices};
  if (rule == "cyclic") return {Cyclic(mortars.points, ranks), mortars.indices};
  if (rule == "double_block") return {DoubleBlock(mortars.vertices, others, ranks), mortars.indices};
  if (rule == "reversed_double_block")
    return {ReversedDoubleBlock(mortars.vertices, others, ranks), mortars.indices};
  if (rule == "lowest_rank") return own_among_touching(mortars, ranks, OwnerRule::lowest_rank);
  if (rule == "balanced") return own_among_touching(mortars, ranks, OwnerRule::balanced);
  throw Error(ErrorKind::usage, "no rule of ownership is called " + rule,
              "block, cyclic, double_block, reversed_double_block, lowest_rank or balanced");
}

}  // namespace tailrace::bench
