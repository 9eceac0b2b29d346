// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_ownership.hpp"

#include "tailrace/decomposition.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

using namespace exchange;

std::int64_t elements_of(const Mortars& mortars) {
  return static_cast<std::int64_t>(mortars.first.size()) - 1;
}

/// Numbers the points by their lowest rank, so that each rank has a contiguous share.
OwnedMortars own_by_lowest_rank(const Mortars& mortars, int ranks) {
  std::vector<std::int64_t> number(static_cast<std::size_t>(mortars.points), -1), starts{0};
  OwnedMortars owned{Block(mortars.points, ranks), mortars.indices};
  std::int64_t next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const Range part = layout::split(elements_of(mortars), ranks, rank);
    const auto begin = mortars.first[static_cast<std::size_t>(part.begin)],
               end = mortars.first[static_cast<std::size_t>(part.end)];
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      auto& of_point = number[static_cast<std::size_t>(mortars.indices[i])];
      if (of_point < 0) of_point = next++;
      owned.indices[i] = of_point;
    }
    starts.push_back(next);
  }
  owned.distribution = Starts(std::move(starts));
  return owned;
}

}  // namespace

std::vector<std::int64_t> OwnedMortars::of_rank(const Mortars& mortars, int rank) const {
  const Range part = layout::split(elements_of(mortars), distribution.ranks(), rank);
  return {indices.begin() + mortars.first[static_cast<std::size_t>(part.begin)],
          indices.begin() + mortars.first[static_cast<std::size_t>(part.end)]};
}

const std::vector<std::string>& ownership_rules() {
  static const std::vector<std::string> names{"block", "cyclic", "double_block", "reversed_double_block",
                                              "lowest_rank"};
  return names;
}

OwnedMortars own(const Mortars& mortars, const std::string& rule, int ranks) {
  const std::int64_t others = mortars.points - mortars.vertices;
  if (rule == "block") return {Block(mortars.points, ranks), mortars.indices};
  if (rule == "cyclic") return {Cyclic(mortars.points, ranks), mortars.indices};
  if (rule == "double_block") return {DoubleBlock(mortars.vertices, others, ranks), mortars.indices};
  if (rule == "reversed_double_block")
    return {ReversedDoubleBlock(mortars.vertices, others, ranks), mortars.indices};
  if (rule == "lowest_rank") return own_by_lowest_rank(mortars, ranks);
  throw Error(ErrorKind::usage, "no rule of ownership is called " + rule,
              "block, cyclic, double_block, reversed_double_block or lowest_rank");
}

}  // namespace tailrace::bench
