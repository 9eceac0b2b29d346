// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "grid.hpp"

namespace tailrace::ultrasound {

/// The largest time step for which the k-space scheme is stable in a lossless medium of the given speed;
/// nothing if every one is, which holds up to the reference speed. In a heterogeneous medium it is an
/// estimate, in an absorbing one an upper bound. From the dispersion relation sin(w dt / 2) =
/// c / c_ref sin(c_ref |k| dt / 2) (Tabei, Mast and Waag 2002), which needs a right side of at most 1. @local
std::optional<double> largest_stable_dt_s(const Grid& grid, double speed_m_s);

}  // namespace tailrace::ultrasound
