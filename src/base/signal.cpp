// SPDX-License-Identifier: BSD-3-Clause
#include "base/signal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tailrace {

template <class Real>
double mean_frequency_hz(std::span<const Real> values, double dt_s) noexcept {
  double power = 0, change = 0, before = 0;
  for (const double value : values) {
    power += value * value;
    change += (value - before) * (value - before);
    before = value;
  }
  if (power == 0) return 0;
  const double sine = std::sqrt((change + before * before) / power) / 2;
  return std::asin(std::min(sine, 1.0)) / (std::numbers::pi * dt_s);
}

template double mean_frequency_hz(std::span<const float>, double) noexcept;
template double mean_frequency_hz(std::span<const double>, double) noexcept;

}  // namespace tailrace
