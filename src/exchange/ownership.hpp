// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/shared_numbering.hpp"

/// Who owns what several ranks have. What two ranks alone have belongs to one of them, so that one message
/// goes between them; which of the two, is decided pair by pair, the pairs that share most first: the one
/// that owns less for others so far. What more ranks have goes to the one that owns most of its pairs with
/// the others, which adds few messages.
namespace tailrace::exchange {

/// What all that share with a rank know of it.
struct Standing {
  std::int64_t surplus = 0;  ///< numbers that it owns for others in its pairs, less those others own for it
  std::map<int, bool> owns;  ///< whether it owns what it alone shares with a rank
};
using Standings = std::map<int, Standing>;

/// How many numbers each two ranks alone share, the lower rank first.
using PairWeights = std::map<std::pair<int, int>, std::int64_t>;
/// Decides the pairs of all ranks. @local
Standings decide_pairs(const PairWeights& weights);
/// The same by all ranks together: `weights` has what this rank alone shares with others; returns the
/// standings of itself and of `neighbours`, who name it too. @collective{comm}, synchronises. Cost: rounds of
/// one number to one rank each, as many as pairs wait for heavier ones one behind the other; then a message
/// of 16 bytes per pair to each neighbour.
Standings decide_pairs(mpi::CommView comm, const std::map<int, std::int64_t>& weights,
                       std::span<const int> neighbours);

/// The owner of a thing that exactly these ranks have, ascending, at least one; with `balanced` by the
/// standings of all of them. @local
int owner_among(std::span<const int> ranks, OwnerRule rule, const Standings& standings) noexcept;

}  // namespace tailrace::exchange
