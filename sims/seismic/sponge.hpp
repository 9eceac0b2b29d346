// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "tailrace/box.hpp"

namespace tailrace::seismic {

/// A damping layer along one axis: u_tt + s u_t = ..., where s grows with the square of the depth.
struct Sponge {
  std::int64_t points = 0;  ///< refers to the grid along the axis, layers included
  std::int64_t width = 0;
  double spacing_m = 0, speed_m_s = 0, dt_s = 0;

  /// Says what is left of a wave that crosses the layer twice, head-on.
  static constexpr double left_over = 1e-3;

  /// s dt / 2 at a point.
  [[nodiscard]] double damping(std::int64_t i) const noexcept {
    const std::int64_t depth = i < width ? width - i : i - (points - width) + 1;
    if (width == 0 || depth <= 0) return 0;
    const double share = static_cast<double>(depth) / static_cast<double>(width);
    const double length_m = static_cast<double>(width) * spacing_m;
    const double most = 3 * speed_m_s * std::log(1 / left_over) / length_m;
    return most * share * share * dt_s / 2;
  }
};

/// The damping at the points of a rank's range.
template <class Real>
AlignedVector<Real> damping_along(const Sponge& sponge, Range range) {
  AlignedVector<Real> values(static_cast<std::size_t>(range.size() + simd::lanes<Real>), Real{0});
  for (std::int64_t i = range.begin; i < range.end; ++i)
    values[static_cast<std::size_t>(i - range.begin)] = static_cast<Real>(sponge.damping(i));
  return values;
}

}  // namespace tailrace::seismic
