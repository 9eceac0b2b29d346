// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tailrace {

/// Number of a time step: 0 is the initial state, n the state after n updates.
using StepIndex = std::int64_t;

/// A grid index or extent; the order in memory is (z, y, x), x fastest.
struct Index3 {
  std::int64_t x = 0, y = 0, z = 0;

  friend constexpr bool operator==(const Index3&, const Index3&) = default;
  [[nodiscard]] constexpr std::int64_t volume() const noexcept { return x * y * z; }
};

/// Half-open range of indices along one axis.
struct Range {
  std::int64_t begin = 0, end = 0;

  friend constexpr bool operator==(const Range&, const Range&) = default;
  [[nodiscard]] constexpr std::int64_t size() const noexcept { return end > begin ? end - begin : 0; }
  [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
  [[nodiscard]] constexpr bool contains(std::int64_t i) const noexcept { return i >= begin && i < end; }
};

constexpr Range intersect(Range a, Range b) noexcept {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Half-open box of grid points: lo is inside, hi is not.
struct Box {
  Index3 lo, hi;

  friend constexpr bool operator==(const Box&, const Box&) = default;
  [[nodiscard]] constexpr Range x() const noexcept { return {lo.x, hi.x}; }
  [[nodiscard]] constexpr Range y() const noexcept { return {lo.y, hi.y}; }
  [[nodiscard]] constexpr Range z() const noexcept { return {lo.z, hi.z}; }
  [[nodiscard]] constexpr Index3 extents() const noexcept { return {x().size(), y().size(), z().size()}; }
  [[nodiscard]] constexpr std::int64_t volume() const noexcept { return extents().volume(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return volume() == 0; }
  [[nodiscard]] constexpr bool contains(Index3 p) const noexcept {
    return x().contains(p.x) && y().contains(p.y) && z().contains(p.z);
  }
  [[nodiscard]] static constexpr Box whole(Index3 extents) noexcept { return {{0, 0, 0}, extents}; }
};

constexpr Box intersect(const Box& a, const Box& b) noexcept {
  return {{std::max(a.lo.x, b.lo.x), std::max(a.lo.y, b.lo.y), std::max(a.lo.z, b.lo.z)},
          {std::min(a.hi.x, b.hi.x), std::min(a.hi.y, b.hi.y), std::min(a.hi.z, b.hi.z)}};
}

}  // namespace tailrace
