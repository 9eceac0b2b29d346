// SPDX-License-Identifier: BSD-3-Clause
#include "base/signal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tailrace {

template <class Real>
double mean_frequency_hz(std::span<const Real> values, double dt_s) noexcept {
  constexpr int min_turns = 3;
  double power = 0, change = 0, before = 0, slope = 0;
  int turns = 0;
  for (const double value : values) {
    const double step = value - before;
    power += value * value;
    change += step * step;
    if ((step < 0 && slope > 0) || (step > 0 && slope < 0)) ++turns;
    if (step != 0) slope = step;
    before = value;
  }
  if (power == 0 || turns < min_turns) return 0;
  return std::asin(std::min(std::sqrt(change / power) / 2, 1.0)) / (std::numbers::pi * dt_s);
}

template double mean_frequency_hz(std::span<const float>, double) noexcept;
template double mean_frequency_hz(std::span<const double>, double) noexcept;

}  // namespace tailrace
