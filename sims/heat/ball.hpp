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
    for (const double away : way_from(leaf)) square += away * away;
    return square;
  }
  /// Whether its centre comes closer to the closed cube with this velocity.
  [[nodiscard]] bool approaches(const Leaf& leaf, const Vec3& velocity) const noexcept {
    const Vec3 away = way_from(leaf);
    return away[0] * velocity[0] + away[1] * velocity[1] + away[2] * velocity[2] < 0;
  }
  /// From the point of the closed cube that is nearest to its centre.
  [[nodiscard]] Vec3 way_from(const Leaf& leaf) const noexcept {
    Vec3 away{};
    for (std::size_t d = 0; d < 3; ++d)
      away[d] =
          centre[d] - std::clamp(centre[d], to_length(leaf.low[d]), to_length(leaf.low[d] + leaf.size()));
    return away;
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
