// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/decomposition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::layout;

namespace {

/// Every decomposition of `extents` over this many ranks that the module offers.
std::vector<Decomposition> all_decompositions(Index3 extents, int ranks) {
  std::vector<Decomposition> list{Decomposition::all_on(extents, ranks, ranks / 2)};
  for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
    list.push_back(Decomposition::slab(extents, axis, ranks));
    list.push_back(Decomposition::pencil(extents, axis, near_square_grid(ranks)));
    list.push_back(Decomposition::pencil(extents, axis, 1, ranks));
    list.push_back(Decomposition::pencil(extents, axis, ranks, 1));
  }
  for (int x = 1; x <= ranks; ++x)
    for (int y = 1; x * y <= ranks; ++y)
      if (ranks % (x * y) == 0)
        list.push_back(Decomposition::bricks(extents, {.x = x, .y = y, .z = ranks / (x * y)}));
  return list;
}

/// Returns how often each point is owned.
std::vector<int> owners_per_point(const Decomposition& decomposition) {
  const Index3 n = decomposition.extents();
  std::vector<int> owners(static_cast<std::size_t>(n.volume()));
  for (int rank = 0; rank < decomposition.ranks(); ++rank) {
    const Box box = decomposition.box(rank);
    for (std::int64_t z = box.lo.z; z < box.hi.z; ++z)
      for (std::int64_t y = box.lo.y; y < box.hi.y; ++y)
        for (std::int64_t x = box.lo.x; x < box.hi.x; ++x)
          ++owners[static_cast<std::size_t>((z * n.y + y) * n.x + x)];
  }
  return owners;
}

/// The ranks whose boxes share points with `region`, by looking at each.
std::vector<int> meeting_by_search(const Decomposition& decomposition, const Box& region) {
  std::vector<int> ranks;
  for (int rank = 0; rank < decomposition.ranks(); ++rank)
    if (!intersect(decomposition.box(rank), region).empty()) ranks.push_back(rank);
  return ranks;
}

}  // namespace

TEST_CASE("split covers every item once, sizes differ by at most one, longer parts first") {
  for (std::int64_t n : {0, 1, 2, 3, 7, 12, 13, 40, 41, 127})
    for (int parts = 1; parts <= 40; ++parts) {
      CAPTURE(n);
      CAPTURE(parts);
      std::int64_t next = 0, before = n + 1;
      for (int i = 0; i < parts; ++i) {
        const Range part = split(n, parts, i);
        CHECK(part.begin == next);
        CHECK(part.size() <= before);
        CHECK(part.size() - n / parts == (i < n % parts ? 1 : 0));
        for (std::int64_t item = part.begin; item < part.end; ++item) CHECK(part_of(n, parts, item) == i);
        before = part.size();
        next = part.end;
      }
      CHECK(next == n);
    }
}

TEST_CASE("split keeps 64 bits") {
  const std::int64_t n = std::int64_t{1} << 60;
  CHECK(split(n, 7, 6).end == n);
  CHECK(part_of(n, 7, n - 1) == 6);
}

TEST_CASE("split refuses what is no part") {
  CHECK_THROWS_AS(split(5, 0, 0), Error);
  CHECK_THROWS_AS(split(5, 2, 2), Error);
  CHECK_THROWS_AS(split(5, 2, -1), Error);
  CHECK_THROWS_AS(split(-1, 2, 0), Error);
  CHECK_THROWS_AS(part_of(5, 2, 5), Error);
}

TEST_CASE("decompositions give every point exactly one owner, on 1 to 40 ranks") {
  for (const Index3 extents : {Index3{7, 5, 3}, Index3{1, 1, 1}, Index3{13, 2, 11}, Index3{4, 8, 6}})
    for (int ranks = 1; ranks <= 40; ++ranks)
      for (const Decomposition& decomposition : all_decompositions(extents, ranks)) {
        CAPTURE(ranks);
        REQUIRE(decomposition.ranks() == ranks);
        const auto owners = owners_per_point(decomposition);
        CHECK(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
      }
}

TEST_CASE("a decomposition of nothing owns nothing") {
  for (const Decomposition& decomposition : all_decompositions({5, 0, 3}, 4))
    for (int rank = 0; rank < 4; ++rank) CHECK(decomposition.box(rank).empty());
}

TEST_CASE("the ranks that meet a region are those a search finds") {
  const Index3 extents{6, 5, 7};
  const std::vector<Box> regions{Box::whole(extents),    {{1, 1, 1}, {2, 2, 2}},     {{0, 4, 2}, {6, 5, 7}},
                                 {{2, 2, 2}, {2, 5, 5}}, {{-3, -3, -3}, {20, 3, 1}}, {{5, 4, 6}, {9, 9, 9}}};
  for (int ranks = 1; ranks <= 40; ++ranks)
    for (const Decomposition& decomposition : all_decompositions(extents, ranks))
      for (const Box& region : regions)
        CHECK(decomposition.ranks_meeting(region) == meeting_by_search(decomposition, region));
}

TEST_CASE("slabs and pencils leave the axes whole that they promise") {
  const Index3 extents{12, 10, 9};
  CHECK(Decomposition::slab(extents, Axis::z, 3).box(1) == Box{{0, 0, 3}, {12, 10, 6}});
  CHECK(Decomposition::slab(extents, Axis::y, 3).box(0) == Box{{0, 0, 0}, {12, 4, 9}});
  // 3 rows of 2 columns; rank 3 is row 1, column 1.
  CHECK(Decomposition::pencil(extents, Axis::x, 3, 2).box(3) == Box{{0, 5, 3}, {12, 10, 6}});
  CHECK(Decomposition::pencil(extents, Axis::y, 3, 2).box(3) == Box{{6, 0, 3}, {12, 10, 6}});
  CHECK(Decomposition::pencil(extents, Axis::z, 5, 2).box(3) == Box{{6, 2, 0}, {12, 4, 9}});
}

TEST_CASE("pencils along x and y share rows of ranks, those along y and z columns") {
  const Index3 extents{7, 7, 7};
  const int rows = 3, columns = 4;
  const auto x = Decomposition::pencil(extents, Axis::x, rows, columns);
  const auto y = Decomposition::pencil(extents, Axis::y, rows, columns);
  const auto z = Decomposition::pencil(extents, Axis::z, rows, columns);
  for (int rank = 0; rank < rows * columns; ++rank) {
    for (const int other : y.ranks_meeting(x.box(rank))) CHECK(other / columns == rank / columns);
    for (const int other : z.ranks_meeting(y.box(rank))) CHECK(other % columns == rank % columns);
  }
}

TEST_CASE("decompositions compare by value") {
  const Index3 extents{4, 4, 4};
  CHECK(Decomposition::slab(extents, Axis::z, 4) == Decomposition::slab(extents, Axis::z, 4));
  CHECK(Decomposition::slab(extents, Axis::z, 4) != Decomposition::slab(extents, Axis::y, 4));
  CHECK(Decomposition::slab(extents, Axis::z, 4) != Decomposition::slab({4, 4, 5}, Axis::z, 4));
  CHECK(Decomposition::all_on(extents, 4, 1) != Decomposition::all_on(extents, 4, 2));
  CHECK(Decomposition::pencil(extents, Axis::x, 4, 1) == Decomposition::slab(extents, Axis::z, 4));
}

TEST_CASE("grids of ranks are near a square") {
  CHECK(near_square_grid(1) == RankGrid{1, 1});
  CHECK(near_square_grid(7) == RankGrid{7, 1});
  CHECK(near_square_grid(12) == RankGrid{4, 3});
  CHECK(near_square_grid(36) == RankGrid{6, 6});
  CHECK(near_square_grid(1 << 20) == RankGrid{1024, 1024});
  CHECK_THROWS_AS(near_square_grid(0), Error);
}

TEST_CASE("ranges and boxes can be taken apart and changed by axis") {
  const Box box{{1, 2, 3}, {4, 6, 8}};
  CHECK(range_of(box, Axis::x) == Range{1, 4});
  CHECK(range_of(box, Axis::y) == Range{2, 6});
  CHECK(range_of(box, Axis::z) == Range{3, 8});
  CHECK(with_range(box, Axis::y, {0, 1}) == Box{{1, 0, 3}, {4, 1, 8}});
}
