// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/distribution.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

/// Starts that are as uneven as can be: every third rank has nothing.
Starts uneven(std::int64_t size, int ranks) {
  std::vector<std::int64_t> starts{0};
  for (int rank = 1; rank < ranks; ++rank)
    starts.push_back(rank % 3 == 1 ? starts.back() : size * rank * rank / (std::int64_t{ranks} * ranks));
  starts.push_back(size);
  return Starts(starts);
}

std::vector<Distribution> all_kinds(std::int64_t size, int ranks) {
  const std::int64_t first = size / 3;
  return {Block(size, ranks),
          Cyclic(size, ranks),
          BlockCyclic(size, ranks, 5),
          uneven(size, ranks),
          DoubleBlock(first, size - first, ranks),
          ReversedDoubleBlock(first, size - first, ranks)};
}

/// Returns what is wrong with a distribution, or nothing: counts, the way there and back, each index once.
std::string contradiction(const Distribution& one) {
  std::int64_t in_all = 0;
  std::vector<bool> seen(static_cast<std::size_t>(one.size()));
  for (int rank = 0; rank < one.ranks(); ++rank) {
    in_all += one.count(rank);
    for (std::int64_t local = 0; local < one.count(rank); ++local) {
      const std::int64_t index = one.global(rank, local);
      if (index < 0 || index >= one.size() || seen[static_cast<std::size_t>(index)]) return "global";
      seen[static_cast<std::size_t>(index)] = true;
      if (one.owner(index) != rank || one.local(index) != local || !one.is_local(index, rank)) return "owner";
    }
  }
  return in_all == one.size() ? "" : "count";
}

/// A rule of a user who forgot that ranks other than the first own something.
struct Forgetful {
  [[nodiscard]] std::int64_t size() const { return 10; }
  [[nodiscard]] int ranks() const { return 2; }
  [[nodiscard]] int owner(std::int64_t) const { return 0; }
  [[nodiscard]] std::int64_t local(std::int64_t index) const { return index % 5; }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const { return rank * 5 + local; }
  [[nodiscard]] std::int64_t count(int) const { return 5; }
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.info().message + "; " + error.info().hint;
  }
  return "";
}

}  // namespace

TEST_CASE("every index has one owner, and the way there and back agree") {
  for (int ranks = 1; ranks <= 70; ++ranks)
    for (const std::int64_t size : {0, 1, 2, 7, 31, 64, 97, 210})
      for (const Distribution& one : all_kinds(size, ranks)) {
        REQUIRE(one.size() == size);
        REQUIRE(one.ranks() == ranks);
        CHECK_MESSAGE(contradiction(one).empty(), contradiction(one), " ", size, " over ", ranks);
        CHECK_NOTHROW(one.check(ranks - 1, 1000));
      }
}

TEST_CASE("the rules share out as their names say") {
  CHECK(Block(10, 4).count(1) == 3);
  CHECK(Block(10, 4).global(2, 0) == 6);
  CHECK(Cyclic(10, 4).owner(7) == 3);
  CHECK(BlockCyclic(10, 2, 2).owner(4) == 0);
  CHECK(BlockCyclic(10, 2, 2).local(5) == 3);
  CHECK(DoubleBlock(4, 8, 4).owner(4) == 0);
  CHECK(ReversedDoubleBlock(4, 8, 4).owner(4) == 3);
  CHECK(ReversedDoubleBlock(4, 8, 4).global(0, 1) == 10);
  CHECK(Starts({0, 3, 3, 8}).owner(3) == 2);
}

TEST_CASE("what is no distribution is refused with the reason") {
  CHECK(message_of([] { Block(-1, 2); }).find("-1 indices over 2 ranks") != std::string::npos);
  CHECK(message_of([] { Block(1, 0); }).find("over 0 ranks") != std::string::npos);
  CHECK(message_of([] { BlockCyclic(1, 1, 0); }).find("blocks of 0") != std::string::npos);
  CHECK(message_of([] { Starts({0, 4, 2}); }).find("does not ascend") != std::string::npos);
  CHECK(message_of([] { Starts({1, 4}); }).find("from 0") != std::string::npos);
  const Distribution ten = Block(10, 2);
  CHECK(message_of([&] { static_cast<void>(ten.owner(10)); }) ==
        "index 10 of a space of 10; indices from 0 to 9");
  CHECK(message_of([&] { static_cast<void>(ten.global(1, 5)); }).find("index 5 of rank 1, which has 5") == 0);
  CHECK(message_of([] { Distribution(Forgetful{}).check(0, 10); }).find("describe the same bijection") !=
        std::string::npos);
}
