// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "leaf.hpp"

namespace tailrace::heat {

using Vec3 = std::array<double, 3>;

/// The source of heat, a ball at one time.
struct Ball {
  Vec3 centre{};
  double radius = 0;

  /// Whether it reaches into the closed cube.
  [[nodiscard]] bool touches(const Leaf& leaf) const noexcept {
    return square_distance(leaf) < radius * radius;
  }
  [[nodiscard]] double square_distance(const Leaf& leaf) const noexcept {
    double square = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const double away =
          centre[d] - std::clamp(centre[d], to_length(leaf.low[d]), to_length(leaf.low[d] + leaf.size()));
      square += away * away;
    }
    return square;
  }
  /// Heat per volume and time.
  [[nodiscard]] double source(double x, double y, double z) const noexcept {
    const double dx = x - centre[0], dy = y - centre[1], dz = z - centre[2];
    const double square = dx * dx + dy * dy + dz * dz;
    if (square > radius * radius) return 0;
    return std::cos(std::numbers::pi * std::sqrt(square) / radius) + 1;
  }
};

}  // namespace tailrace::heat
