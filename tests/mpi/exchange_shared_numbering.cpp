// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/shared_numbering.hpp"

#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "error_of.hpp"
#include "exchange/ownership.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

constexpr std::uint64_t things = 60;

/// Things that many ranks have, none, or one; every third rank has nothing.
std::vector<NumberedKey> keys_of(int rank, int ranks) {
  std::vector<NumberedKey> keys;
  SplitMix64 random(static_cast<std::uint64_t>(rank) + 5);
  for (std::uint64_t i = 0; i < things && (rank % 3 != 1 || ranks < 3); ++i) {
    const auto thing = rank % 2 == 0 ? i : things - 1 - i;
    if (random.next() % 3 != 0)
      keys.push_back({{thing % 7, thing}, static_cast<std::int64_t>(thing % 4 + 1)});
  }
  return keys;
}

std::vector<Sharer> all_others(int rank, int ranks, std::size_t keys) {
  std::vector<Sharer> sharers;
  for (int other = ranks - 1; other >= 0; --other)
    if (other != rank) {
      auto& list = sharers.emplace_back(Sharer{other, std::vector<std::int32_t>(keys)}).keys;
      std::iota(list.begin(), list.end(), 0);
    }
  return sharers;
}

/// The ranks that have each thing, by definition.
std::map<Key, std::vector<int>> holders(int ranks) {
  std::map<Key, std::vector<int>> holders;
  for (int rank = 0; rank < ranks; ++rank)
    for (const auto& [key, count] : keys_of(rank, ranks)) holders[key].push_back(rank);
  return holders;
}

}  // namespace

MPI_CASE("things of several ranks have one number each, of a rank that has them", ranks{1, 2, 3, 4, 7}) {
  const auto keys = keys_of(comm.rank(), comm.size());
  const auto sharers = all_others(comm.rank(), comm.size(), keys.size());
  const auto held = holders(comm.size());
  std::int64_t total = 0;
  for (const auto& [key, ranks] : held) total += static_cast<std::int64_t>(key.low % 4 + 1);
  Shares shares;
  for (const auto& [key, ranks] : held)
    if (ranks.size() > 1) shares[ranks] += static_cast<std::int64_t>(key.low % 4 + 1);
  const auto standings = find_standings(shares);  // by one process for all, where the ranks ask each other
  for (const auto rule : {OwnerRule::lowest_rank, OwnerRule::balanced}) {
    const auto numbers = number_shared(comm, keys, sharers, rule);
    REQUIRE(numbers.first.size() == keys.size());
    CHECK(numbers.distribution.size() == total);
    // Every number of every thing goes once into a sum over the numbers that owners gave.
    std::int64_t own_numbers = 0,
                 next = numbers.own.empty() ? 0 : numbers.distribution.global(comm.rank(), 0);
    for (const auto position : numbers.own) {
      const auto at = static_cast<std::size_t>(position);
      CHECK(numbers.first[at] == next);
      next += keys[at].count;
      own_numbers += keys[at].count;
    }
    CHECK(own_numbers == numbers.distribution.count(comm.rank()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto& ranks = held.at(keys[i].key);
      CHECK(numbers.distribution.owner(numbers.first[i]) == owner_among(ranks, rule, standings));
      CHECK(numbers.distribution.owner(numbers.first[i] + keys[i].count - 1) ==
            owner_among(ranks, rule, standings));
    }
    // All ranks that have a thing have the same number: as sums of numbers and of their squares.
    std::vector<std::int64_t> sums(3 * things);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto thing = static_cast<std::size_t>(keys[i].key.low), n = static_cast<std::size_t>(things);
      sums[thing] += numbers.first[i];
      sums[n + thing] += numbers.first[i] * numbers.first[i];
      ++sums[2 * n + thing];
    }
    sums = mpi::sum(comm, sums);
    for (std::size_t thing = 0; thing < things; ++thing)
      CHECK(sums[thing] * sums[thing] == sums[things + thing] * sums[2 * things + thing]);
  }
}

MPI_CASE("a key twice is refused on all ranks", ranks{3}) {
  std::vector<NumberedKey> keys{{{0, 1}, 1}, {{0, 2}, 1}};
  if (comm.rank() == 1) keys[1] = keys[0];
  const auto error = test::error_of([&] { number_shared(comm, keys, {}, OwnerRule::lowest_rank); });
  REQUIRE(error);
  CHECK(error->message == "rank 1 numbers the key 0:1 twice");
}

MPI_CASE("a key with different counts is refused on all ranks", ranks{2}) {
  const std::vector<NumberedKey> keys{{{0, 1}, comm.rank() + 1}};
  const std::vector<Sharer> sharers{{1 - comm.rank(), {0}}};
  CHECK_THROWS_AS(number_shared(comm, keys, sharers, OwnerRule::balanced), Error);
}
