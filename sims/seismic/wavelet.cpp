// SPDX-License-Identifier: BSD-3-Clause
#include "wavelet.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tailrace::seismic {

double ricker(double cutoff_hz, double time_s) noexcept {
  const double peak_hz = cutoff_hz / 3, centre_s = 2 * std::sqrt(std::numbers::pi) / cutoff_hz;
  const double phase = std::numbers::pi * peak_hz * (time_s - centre_s), e = phase * phase;
  return (1 - 2 * e) * std::exp(-e);
}

std::vector<double> ricker_values(double cutoff_hz, double delay_s, double amplitude, double dt_s,
                                  StepIndex steps) {
  std::vector<double> values;
  constexpr double periods_until_0 = 9;  // after its centre: no double is smaller than what comes then
  const double end_s =
      delay_s + 2 * std::sqrt(std::numbers::pi) / cutoff_hz + 3 * periods_until_0 / cutoff_hz;
  const double count = std::min(static_cast<double>(steps), std::ceil(end_s / dt_s) + 1);
  for (StepIndex n = 1; n <= static_cast<StepIndex>(count); ++n)
    values.push_back(amplitude * ricker(cutoff_hz, static_cast<double>(n - 1) * dt_s - delay_s));
  return values;
}

}  // namespace tailrace::seismic
