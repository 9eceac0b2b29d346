// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace tailrace {

/// The root mean square of the frequencies of a signal that is 0 before and may be cut off at its end,
/// weighted by their power: that of a tone burst is the tone's. 0 for a signal that turns less than three
/// times, too short for one. Source: the sum of (s(t + dt) - s(t))^2 is that of 4 sin^2(pi f dt) |S(f)|^2.
/// @local
template <class Real>
double mean_frequency_hz(std::span<const Real> values, double dt_s) noexcept;

}  // namespace tailrace
