// SPDX-License-Identifier: BSD-3-Clause
#include "stability.hpp"

#include <algorithm>
#include <cmath>

namespace tailrace::ultrasound {

template <class Real>
double largest_speed_m_s(const Coefficient<Real>& c0, const Grid& grid, Range planes) {
  const Index3 n = grid.folded();
  Real largest = 0;
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t y = 0; y < n.y; ++y)
      largest = std::max(largest, *std::max_element(c0.row(y, z), c0.row(y, z) + n.x));
  return largest;
}

template double largest_speed_m_s(const Coefficient<float>&, const Grid&, Range);
template double largest_speed_m_s(const Coefficient<double>&, const Grid&, Range);

std::optional<double> largest_stable_dt_s(const Grid& grid, double speed_m_s) {
  if (speed_m_s <= grid.c_ref_m_s) return {};
  double k_squared = 0;
  const auto extents = grid.extents();
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (extents[axis] > 1)
      k_squared += std::pow(wavenumber(extents[axis] / 2, extents[axis], grid.spacing_m[axis]), 2);
  if (k_squared == 0) return {};
  return 2 * std::asin(grid.c_ref_m_s / speed_m_s) / (grid.c_ref_m_s * std::sqrt(k_squared));
}

}  // namespace tailrace::ultrasound
