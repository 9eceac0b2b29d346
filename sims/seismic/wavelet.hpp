// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "tailrace/box.hpp"

namespace tailrace::seismic {

/// The Ricker wavelet of a cut-off frequency: its peak frequency is a third of it, and it begins near 0.
double ricker(double cutoff_hz, double time_s) noexcept;

/// Describes what is added to p and q at a point: `values[n - 1]` before step n, nothing after the last one.
struct Source {
  Index3 cell;  ///< refers to the domain
  std::vector<double> values;
};

/// The values of a Ricker wavelet for `steps` steps, `delay_s` later, as far as they are not 0.
std::vector<double> ricker_values(double cutoff_hz, double delay_s, double amplitude, double dt_s,
                                  StepIndex steps);

}  // namespace tailrace::seismic
