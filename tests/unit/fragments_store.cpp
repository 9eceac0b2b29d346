// SPDX-License-Identifier: BSD-3-Clause
// What the home of data fragments keeps of them, and what it lets go.
#include "fragments/store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/random.hpp"
#include "fragments_bodies.hpp"

namespace tailrace::test {

namespace {

using fragments::EndedNames;
using fragments::EndedRange;
using fragments::Id;
using fragments::Name;
using fragments::Statement;
using fragments::Store;
using fragments::Stored;
using fragments::Value;

Id id_of(std::initializer_list<std::int32_t> indices) {
  Id id(3, 17);
  for (const auto index : indices) id.take(index);
  return id;
}

/// A store, and what happens to data fragments in it.
struct Home {
  Statement writer;
  fragments::Image image;
  Store store;
  std::vector<fragments::Delivery> deliveries;

  explicit Home(int ranks = 1) : store(image, ranks) { image.declarations.emplace_back(); }
  const Stored* write(const Id& id, int uses) {
    fragments::Post post{{id, 0, {}}, Value(std::int32_t{7}), uses, -1, {&writer, {}}};
    return store.post(post, deliveries);
  }
  bool read(const Id& id, std::uint32_t token = 0) {
    return store.request({id, 0, {}}, {0, token}).has_value();
  }
  void remove(const Id& id) { store.remove({{id, 0, {}}, {&writer, {}}}); }
};

/// The names of ranges, in order.
std::vector<Id> names_of(const std::vector<EndedRange>& ranges) {
  std::vector<Id> names;
  for (const auto& range : ranges) range.each([&](const Id& id) { names.push_back(id); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("store: names that ended alike are ranges, in whatever order they end") {
  SplitMix64 random(5);
  for (const int ranks : {1, 3}) {
    std::vector<std::int32_t> order(1000);
    std::iota(order.begin(), order.end(), -500);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
    Home home(ranks);
    for (const auto i : order) {
      CHECK(home.write(id_of({i * ranks + 1}), 1) == nullptr);
      CHECK(home.read(id_of({i * ranks + 1})));
    }
    CHECK(home.store.entries().empty());
    CHECK((home.store.live_count() == 0 && home.store.live_bytes() == 0));
    const auto ranges = home.store.ended().ranges();
    REQUIRE(ranges.size() == 1);
    CHECK((ranges[0].count == 1000 && ranges[0].step == ranks));
    CHECK(ranges[0].first == id_of({-500 * ranks + 1}));
    const auto* const known = home.store.find(id_of({ranks + 1}));
    REQUIRE(known != nullptr);
    CHECK(known->state == Stored::State::exhausted);
    CHECK(home.store.find(id_of({500 * ranks + 1})) == nullptr);
    CHECK(home.store.find(id_of({1, 0})) == nullptr);
  }
}

TEST_CASE("store: how names ended and all their indices count, the largest and smallest too") {
  Home home;
  const std::vector<std::int32_t> extremes{std::numeric_limits<std::int32_t>::min(), -1, 0,
                                           std::numeric_limits<std::int32_t>::max()};
  std::vector<Id> all;
  for (const auto i : extremes)
    for (const int j : {2, 3}) {
      const auto id = id_of({i, j, 5, 6, 7, 8});
      all.push_back(id);
      home.write(id, j == 2 ? 0 : -1);
      if (j == 3) home.remove(id);
      CHECK(home.store.find(id)->state == (j == 2 ? Stored::State::exhausted : Stored::State::deleted));
    }
  std::sort(all.begin(), all.end());
  CHECK(names_of(home.store.ended().ranges()) == all);
  CHECK(home.store.ended().ranges().size() == 6);  // -1 and 0 follow each other
}

TEST_CASE("store: whoever comes when a value is gone learns that") {
  Home home;
  for (const bool indexed : {false, true}) {
    const auto id = indexed ? id_of({4}) : id_of({});
    home.write(id, 1);
    CHECK(home.read(id));
    CHECK_FALSE(home.read(id, 1));
    REQUIRE(home.write(id, -1) != nullptr);
    CHECK(home.write(id, -1)->writer.statement == &home.writer);
    home.remove(id);
    CHECK(home.store.find(id)->state == Stored::State::exhausted);
  }
}

TEST_CASE("store: readers that came first are served in their order, as many as there are uses") {
  Home home;
  const auto id = id_of({1});
  for (std::uint32_t token = 1; token <= 4; ++token) CHECK_FALSE(home.read(id, token));
  home.write(id, 3);
  REQUIRE(home.deliveries.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(home.deliveries[i].to.token == i + 1);
  CHECK(home.store.live_count() == 0);
}

TEST_CASE("store: a deletion that comes before the value is for those who come after it") {
  Home home;
  const auto id = id_of({1, 2});
  CHECK_FALSE(home.read(id, 1));
  home.remove(id);
  home.write(id, -1);
  CHECK(home.deliveries.size() == 1);
  CHECK(home.store.find(id)->state == Stored::State::deleted);
  CHECK_FALSE(home.read(id, 2));
}

TEST_CASE("store: the fragment that waits for a name is found by it") {
  SplitMix64 random(7);
  std::vector<Id> names;  // by fragment
  std::map<Id, std::uint32_t> expected;
  fragments::AwaitedNames awaited(
      [&](std::uint32_t fragment, const Id& name) { return names[fragment] == name; });
  const auto any_name = [&] { return id_of({static_cast<std::int32_t>(random.next() % 9000)}); };
  for (std::uint32_t fragment = 0; fragment < 20'000; ++fragment) {
    names.push_back(any_name());
    CHECK(awaited.add(names.back(), fragment) == expected.emplace(names.back(), fragment).second);
    if (random.next() % 3 > 0) continue;
    const auto name = any_name();
    const auto found = awaited.take(name);
    CHECK(found.has_value() == expected.contains(name));
    if (found) CHECK(*found == expected[name]);
    expected.erase(name);
    CHECK(awaited.size() == expected.size());
  }
  REQUIRE(awaited.size() > 3000);
  for (const auto& [name, fragment] : expected) CHECK(awaited.take(name) == fragment);
  CHECK(awaited.size() == 0);
}

TEST_CASE("store: one reader of this rank has no entry until more is known of a name") {
  for (const bool other_rank : {false, true}) {
    Home home;
    const auto id = id_of({1});
    home.store.know_readers(0, [&](std::uint32_t /*task*/, const Id& name) { return name == id; });
    CHECK_FALSE(home.read(id, 1));
    CHECK(home.store.entries().empty());
    CHECK_FALSE(home.read(id, 2));
    CHECK(home.store.entries().size() == 1);
    if (other_rank) CHECK_FALSE(home.store.request({id, 0, {}}, {1, 3}).has_value());
    CHECK_FALSE(home.read(id_of({2}), 5));
    home.write(id, -1);
    REQUIRE(home.deliveries.size() == (other_rank ? 3 : 2));
    for (std::size_t i = 0; i < home.deliveries.size(); ++i) {
      CHECK(home.deliveries[i].to.token == i + 1);
      CHECK(home.deliveries[i].to.rank == (i == 2 ? 1 : 0));
    }
  }
}

}  // namespace tailrace::test
