// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/inspection.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "exchange/entries.hpp"
#include "exchange/remotes.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

std::vector<std::int64_t> random_indices(SplitMix64& random, std::int64_t size, std::size_t count) {
  std::vector<std::int64_t> indices(size > 0 ? count : 0);
  for (auto& index : indices)
    index = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(size));
  return indices;
}

/// What an inspection says, found by sets.
void check_against_sets(const Distribution& distribution, int rank,
                        const std::vector<std::int64_t>& indices) {
  const auto seen = inspect(distribution, rank, indices);
  std::set<std::pair<int, std::int64_t>> remote;
  for (const std::int64_t index : indices)
    if (!distribution.is_local(index, rank))
      remote.emplace(distribution.owner(index), distribution.local(index));
  REQUIRE(seen.wanted.size() == remote.size());
  CHECK(seen.array_size() == seen.owned + static_cast<std::int32_t>(remote.size()));
  std::size_t landing = 0, source = 0;
  std::map<std::pair<int, std::int64_t>, std::int32_t> slot_of;
  for (const auto& place : remote) {
    while (source < seen.sources.size() && seen.sources[source].rank != place.first) ++source;
    REQUIRE(source < seen.sources.size());
    CHECK(static_cast<std::int32_t>(landing) >= seen.sources[source].first);
    CHECK(static_cast<std::int32_t>(landing) < seen.sources[source].first + seen.sources[source].count);
    CHECK(seen.wanted[landing] == place.second);
    slot_of[place] = seen.owned + static_cast<std::int32_t>(landing++);
  }
  REQUIRE(seen.slots.size() == indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const int owner = distribution.owner(indices[i]);
    const std::int64_t local = distribution.local(indices[i]);
    CHECK(seen.slots[i] == (owner == rank ? local : slot_of.at({owner, local})));
  }
}

}  // namespace

TEST_CASE("an inspection finds what sets find") {
  SplitMix64 random(7);
  for (const int ranks : {1, 2, 5, 64})
    for (const std::int64_t size : {0, 1, 50, 3000})
      for (const Distribution& one : {Distribution(Block(size, ranks)), Distribution(Cyclic(size, ranks)),
                                      Distribution(ReversedDoubleBlock(size / 4, size - size / 4, ranks))})
        for (const std::size_t count : {0, 1, 70, 5000})
          check_against_sets(one, ranks / 2, random_indices(random, size, count));
}

TEST_CASE("an inspection names the index that is out of range") {
  const std::vector<std::int64_t> indices{3, 4, -1};
  try {
    inspect(Block(5, 2), 0, indices);
    FAIL("nothing was said");
  } catch (const Error& error) {
    CHECK(error.info().message == "index -1 at position 2 of a space of 5");
    CHECK(error.info().hint == "indices from 0 to 4");
  }
}

TEST_CASE("more slots than numbers of 32 bits count are refused with their sizes") {
  try {
    inspect(Block(std::int64_t{5} << 30, 1), 0, {});
    FAIL("nothing was said");
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::resource);
    CHECK(error.info().message ==
          "rank 0 owns 5368709120 values and reads at least 0 of others, beyond the 2147483647 slots that "
          "numbers of 32 bits count");
    CHECK(error.info().hint == "distribute them over more ranks");
  }
}

TEST_CASE("remote places are ordered by owner and local index, whatever their size") {
  SplitMix64 random(11);
  for (const int local_bits : {3, 20, 62})
    for (const int owner_bits : {0, 4, 30})
      for (const std::size_t count : {1, 100, 5000}) {
        std::vector<RemotePosition> list(count);
        for (std::size_t i = 0; i < count; ++i)
          list[i] = {static_cast<int>(random.next() & ((std::uint64_t{1} << owner_bits) - 1)),
                     static_cast<std::int32_t>(i),
                     static_cast<std::int64_t>(random.next() & ((std::uint64_t{1} << local_bits) - 1))};
        const auto before = list;
        sort_by_place(list);
        std::vector<bool> seen(count);
        for (std::size_t i = 0; i < count; ++i) {
          const auto& one = list[i];
          const auto& old = before[static_cast<std::size_t>(one.position)];
          REQUIRE((one.owner == old.owner && one.local == old.local));
          seen[static_cast<std::size_t>(one.position)] = true;
          if (i > 0)
            REQUIRE(std::pair(list[i - 1].owner, list[i - 1].local) <= std::pair(one.owner, one.local));
        }
        CHECK(std::all_of(seen.begin(), seen.end(), [](bool one) { return one; }));
      }
}

TEST_CASE("entries are copied and combined in their order, as runs or one by one") {
  const std::vector<std::vector<std::int64_t>> lists{{}, {3}, {0, 1, 2, 3, 7, 8, 9}, {9, 1, 1, 4}};
  for (const auto& places : lists)
    for (const int components : {1, 3}) {
      std::vector<double> array(static_cast<std::size_t>(10 * components));
      for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<double>(i);
      const Entries entries(places);
      CHECK(entries.size() == static_cast<std::int64_t>(places.size()));
      std::vector<double> out(places.size() * static_cast<std::size_t>(components));
      entries.copy_from(field(std::span(array), components), reinterpret_cast<std::byte*>(out.data()));
      auto expected = array;
      std::size_t at = 0;
      for (const std::int64_t place : places)
        for (int c = 0; c < components; ++c, ++at) {
          const auto i = static_cast<std::size_t>(place * components + c);
          CHECK(out[at] == array[i]);
          expected[i] += out[at];
        }
      entries.combine_into(field(std::span(array), components),
                           reinterpret_cast<const std::byte*>(out.data()), Reduction::sum);
      CHECK(array == expected);
    }
}

TEST_CASE("reductions") {
  const Entries all(std::vector<std::int64_t>{0, 1, 2});
  const auto combined = [&](Reduction reduction) {
    std::vector<std::int32_t> array{-4, 0, 5};
    const std::vector<std::int32_t> values{2, 0, 1};
    all.combine_into(field(std::span(array)), reinterpret_cast<const std::byte*>(values.data()), reduction);
    return array;
  };
  CHECK(combined(Reduction::sum) == std::vector<std::int32_t>{-2, 0, 6});
  CHECK(combined(Reduction::min) == std::vector<std::int32_t>{-4, 0, 1});
  CHECK(combined(Reduction::max) == std::vector<std::int32_t>{2, 0, 5});
  CHECK(combined(Reduction::logical_or) == std::vector<std::int32_t>{1, 0, 1});
}
