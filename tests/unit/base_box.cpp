// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/box.hpp"

#include <doctest/doctest.h>

using namespace tailrace;

TEST_CASE("ranges are half-open") {
  constexpr Range range{2, 5};
  static_assert(range.size() == 3 && !range.empty());
  CHECK(range.contains(2));
  CHECK_FALSE(range.contains(5));
  CHECK(intersect(range, {4, 9}) == Range{4, 5});
  CHECK(intersect(range, {5, 9}).empty());
  CHECK(intersect(range, {7, 9}).size() == 0);
  CHECK(Range{5, 2}.empty());
}

TEST_CASE("boxes count and contain points") {
  constexpr Box box{{1, 2, 3}, {4, 4, 4}};
  static_assert(box.volume() == 6);
  CHECK(box.extents() == Index3{3, 2, 1});
  CHECK(box.contains({1, 2, 3}));
  CHECK_FALSE(box.contains({4, 2, 3}));
  CHECK_FALSE(box.contains({1, 2, 2}));
  CHECK(Box{}.empty());
  CHECK(Box::whole({3, 4, 5}).volume() == 60);
}

TEST_CASE("boxes that miss each other along any axis share nothing") {
  const Box box{{0, 0, 0}, {4, 4, 4}};
  CHECK(intersect(box, {{2, 1, 3}, {9, 2, 9}}) == Box{{2, 1, 3}, {4, 2, 4}});
  CHECK(intersect(box, {{4, 0, 0}, {5, 4, 4}}).empty());
  // Apart along two axes: two negative lengths must not multiply to a volume.
  CHECK(intersect(box, {{6, 6, 0}, {9, 9, 4}}).empty());
  CHECK(intersect(box, {{6, 6, 0}, {9, 9, 4}}).volume() == 0);
}
