// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "molecules_fixture.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

namespace {

/// Positions where a region may begin or end, and next to it.
std::vector<Vec3> corners(const Decomposition& decomposition, fixture::Draw& draw) {
  std::vector<std::vector<double>> places(3);
  for (std::size_t d = 0; d < 3; ++d) {
    std::set<double> values{0, std::nextafter(decomposition.box()[d], 0.0)};
    for (int rank = 0; rank < decomposition.ranks(); ++rank) {
      const Region region = decomposition.region(rank);
      for (const double x : {region.low[d], region.high[d]})
        for (const double place : {x, std::nextafter(x, 0.0), std::nextafter(x, 1e9)})
          if (place >= 0 && place < decomposition.box()[d]) values.insert(place);
    }
    places[d].assign(values.begin(), values.end());
  }
  std::vector<Vec3> list;
  for (int i = 0; i < 400; ++i) {
    Vec3 r{};
    for (std::size_t d = 0; d < 3; ++d)
      r[d] = places[d][std::uniform_int_distribution<std::size_t>(0, places[d].size() - 1)(draw)];
    list.push_back(r);
  }
  return list;
}

/// Differences between `owner` and the one region that contains each position.
int disagreements(const Decomposition& decomposition, const std::vector<Vec3>& positions) {
  int count = 0;
  for (const Vec3& r : positions) {
    std::vector<int> owners;
    for (int rank = 0; rank < decomposition.ranks(); ++rank)
      if (decomposition.region(rank).contains(r)) owners.push_back(rank);
    if (owners != std::vector{decomposition.owner(r)}) ++count;
  }
  return count;
}

bool overlap(const Region& a, const Region& b) {
  for (std::size_t d = 0; d < 3; ++d)
    if (!(std::max(a.low[d], b.low[d]) < std::min(a.high[d], b.high[d]))) return false;
  return true;
}

}  // namespace

TEST_CASE("every position has one owner, also on borders and beside them") {
  for (unsigned seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    fixture::Draw draw(seed);
    const auto decomposition =
        fixture::any_decomposition(draw, fixture::any_box(draw), static_cast<int>(1 + seed % 17));
    const auto anywhere = fixture::any_positions(draw, {{}, decomposition.box()}, 200);
    CHECK(disagreements(decomposition, anywhere) == 0);
    CHECK(disagreements(decomposition, corners(decomposition, draw)) == 0);
  }
}

TEST_CASE("the last region ends where the box does, whatever its length") {
  fixture::Draw draw(3);
  for (int ranks = 1; ranks < 60; ++ranks)
    for (int i = 0; i < 50; ++i) {
      const Vec3 box = fixture::any_box(draw);
      const auto decomposition = Decomposition::regular(box, ranks);
      CHECK(decomposition.region(ranks - 1).high == box);
      CHECK(decomposition.owner({std::nextafter(box[0], 0.0), std::nextafter(box[1], 0.0),
                                 std::nextafter(box[2], 0.0)}) == ranks - 1);
    }
}

TEST_CASE("what is outside of the box, or no number, has no owner") {
  const Vec3 box{5, 6, 7};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& decomposition :
       {Decomposition::regular(box, 6), Decomposition::kd({box, {4, 4, 4}}, {}, 3)})
    for (const Vec3& r : {Vec3{5, 1, 1},
                          {1, 6, 1},
                          {1, 1, 7},
                          {-1e-300, 1, 1},
                          {nan, 1, 1},
                          {1, 1, nan},
                          {1, std::numeric_limits<double>::infinity(), 1}})
      CHECK(decomposition.owner(r) == -1);
}

TEST_CASE("ranks that meet a region") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    fixture::Draw draw(seed);
    const Vec3 box = fixture::any_box(draw);
    const auto decomposition = fixture::any_decomposition(draw, box, static_cast<int>(1 + seed % 13));
    Region region = decomposition.region(0);
    if (seed % 3 != 0)
      for (std::size_t d = 0; d < 3; ++d) {
        const double a = fixture::uniform(draw, -4, box[d] + 4), b = fixture::uniform(draw, -4, box[d] + 4);
        region.low[d] = std::min(a, b), region.high[d] = std::max(a, b);
      }
    std::vector<int> expected;
    for (int rank = 0; rank < decomposition.ranks(); ++rank)
      if (overlap(decomposition.region(rank), region)) expected.push_back(rank);
    CHECK(decomposition.ranks_meeting(region) == expected);
  }
}

TEST_CASE("regular regions have the least area") {
  using Grid = std::array<int, 3>;
  const auto grid_of = [](const Vec3& box, int ranks) {
    const Region first = Decomposition::regular(box, ranks).region(0);
    Grid grid{};
    for (std::size_t d = 0; d < 3; ++d) grid[d] = static_cast<int>(std::lround(box[d] / first.high[d]));
    return grid;
  };
  CHECK(grid_of({10, 10, 10}, 8) == Grid{2, 2, 2});
  CHECK(grid_of({40, 10, 10}, 4) == Grid{4, 1, 1});
  CHECK(grid_of({10, 40, 40}, 4) == Grid{1, 2, 2});
  CHECK(grid_of({10, 30, 20}, 7) == Grid{1, 7, 1});
  CHECK(Decomposition::regular({10, 10, 10}, 6, Grid{1, 6, 1}).region(2).low[1] == 10.0 * 2 / 6);
  CHECK_THROWS_WITH_AS(Decomposition::regular({10, 10, 10}, 6, Grid{2, 2, 1}),
                       doctest::Contains("2 x 2 x 1 parts is not one for 6 ranks"), Error);
  CHECK_THROWS_AS(Decomposition::regular({10, 10, 10}, 6, Grid{-2, -3, 1}), Error);
}

TEST_CASE("ranks without cells come last and own nothing") {
  const CellGrid grid{.box = {4, 4, 4}, .cells = {3, 1, 2}};
  const auto cuts = plan_cuts(LoadTable(grid, std::vector<double>(6, 0.0)), 9, {}, {});
  const auto decomposition = Decomposition::kd(grid, cuts, 9);
  for (int rank = 0; rank < 9; ++rank) CHECK(decomposition.region(rank).empty() == (rank >= 6));
}

TEST_CASE("a decomposition comes back from its numbers, and damaged ones are refused") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    fixture::Draw draw(seed);
    const Vec3 box = fixture::any_box(draw);
    const auto decomposition = fixture::any_decomposition(draw, box, static_cast<int>(1 + seed % 11));
    auto numbers = decomposition.numbers();
    CHECK(Decomposition::restored(box, numbers) == decomposition);
    numbers.push_back(std::int64_t{1} << 40);
    if (numbers[0] == 0) CHECK_THROWS_AS(Decomposition::restored(box, numbers), Error);
    for (std::int64_t& number : numbers) {
      const std::int64_t right = number;
      for (const std::int64_t wrong :
           std::vector<std::int64_t>{-1, 0, right + 1, right ^ (1LL << 31), right ^ (1LL << 60)}) {
        number = wrong;
        try {  // what is accepted can be walked through
          const auto other = Decomposition::restored(box, numbers);
          if (other.ranks() < 100)
            CHECK(disagreements(other, fixture::any_positions(draw, {{}, box}, 5)) == 0);
        } catch (const Error& error) {
          CHECK(error.info().kind == ErrorKind::input);
        }
      }
      number = right;
    }
  }
  CHECK_THROWS_AS(Decomposition::restored({1, 1, 1}, {}), Error);
}

}  // namespace tailrace::molecules
