// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace tailrace::heat {

/// A place in the unit cube: whole multiples of 2^-20, so that middles of the smallest leaves have one.
using Place = std::array<std::int32_t, 3>;
inline constexpr int deepest_level = 18;
inline constexpr std::int32_t unit_length = 1 << (deepest_level + 2);

constexpr double to_length(std::int32_t units) noexcept {
  return static_cast<double>(units) / unit_length;
}

/// The places of a curve through the cube on which each leaf is one contiguous range (Morton's, x fastest).
/// In steps of the smallest leaf.
constexpr std::uint64_t morton_key(const Place& place) noexcept {
  const auto spread = [](std::uint64_t bits) {
    bits = (bits | bits << 32U) & 0x1f00000000ffffU;
    bits = (bits | bits << 16U) & 0x1f0000ff0000ffU;
    bits = (bits | bits << 8U) & 0x100f00f00f00f00fU;
    bits = (bits | bits << 4U) & 0x10c30c30c30c30c3U;
    return (bits | bits << 2U) & 0x1249249249249249U;
  };
  const auto steps = [](std::int32_t units) { return static_cast<std::uint64_t>(units) >> 2U; };
  return spread(steps(place[0])) | spread(steps(place[1])) << 1U | spread(steps(place[2])) << 2U;
}
/// Behind the last place.
inline constexpr std::uint64_t morton_end = std::uint64_t{1} << (3 * deepest_level);

/// A cube of an octree: its low corner and how often the unit cube was halved for it.
struct Leaf {
  Place low{};
  std::int32_t level = 0;

  [[nodiscard]] constexpr std::int32_t size() const noexcept { return unit_length >> level; }
  [[nodiscard]] constexpr std::uint64_t key() const noexcept { return morton_key(low); }
  /// Its range of the curve ends before this key.
  [[nodiscard]] constexpr std::uint64_t end_key() const noexcept {
    return key() + (morton_end >> (3 * level));
  }
  [[nodiscard]] constexpr Leaf child(int i) const noexcept {
    const std::int32_t half = size() / 2;
    return {{low[0] + (i & 1) * half, low[1] + (i >> 1 & 1) * half, low[2] + (i >> 2) * half}, level + 1};
  }
  friend auto operator<=>(const Leaf&, const Leaf&) = default;
};

}  // namespace tailrace::heat
