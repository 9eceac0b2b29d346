// SPDX-License-Identifier: BSD-3-Clause
#include "stability.hpp"

#include <cmath>

namespace tailrace::ultrasound {

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
