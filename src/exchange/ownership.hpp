// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/shared_numbering.hpp"

/// Who owns what several ranks have. What two ranks alone have belongs to one of them, so that one message
/// goes between them; which of the two, is decided pair by pair, the pairs that share most first: so that the
/// most that a rank of the pair reads or is asked for stays least. What more ranks have goes to one of those
/// that own most of their pairs with the others, which adds few messages. Then the pairs are decided once
/// more, as what more ranks have counts too.
namespace tailrace::exchange {

/// How many numbers sets of ranks share: ranks ascending, at least two.
using Shares = std::map<std::vector<int>, std::int64_t>;

/// What all that share with a rank know of it.
struct Standing {
  std::int64_t load = 0;     ///< about what it reads and others read of it, whoever owns what, in parts
  std::int64_t surplus = 0;  ///< numbers that others read of it, less those it reads
  std::map<int, bool> owns;  ///< whether it owns what it alone shares with a rank
};
using Standings = std::map<int, Standing>;

/// The standings of all ranks. @local
Standings find_standings(const Shares& shares);
/// The same by all ranks together: `shares` has those of this rank; returns the standings of itself and of
/// all that it shares with. @collective{comm}, synchronises. Cost: twice rounds of two numbers to one rank
/// each, as many as pairs wait for heavier ones one behind the other, and a message of 16 bytes per pair to
/// each neighbour.
Standings find_standings(mpi::CommView comm, const Shares& shares);

/// The owner of a thing that exactly these ranks have, ascending, at least one; with `balanced` by the
/// standings of all of them. @local
int owner_among(std::span<const int> ranks, OwnerRule rule, const Standings& standings);

}  // namespace tailrace::exchange
