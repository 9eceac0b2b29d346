// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/signal.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "tailrace/box.hpp"

namespace tailrace::ultrasound {

/// Describes how source values enter a field; the numbers are those of the input file.
enum class SourceMode : std::uint64_t {
  dirichlet = 0,               ///< the field takes the value
  additive_no_correction = 1,  ///< the value is added at the points
  additive = 2,  ///< the value is added after filtering with cos(c_ref |k| dt / 2) (Cox et al. 2018)
};

/// A source that acts at single points over time: its points on this rank's planes, sorted by plane, and
/// their signals. Values are scaled by whoever wrote the input file and are used as they are.
template <class Real>
struct PointSource {
  SourceMode mode = SourceMode::additive;
  StepIndex steps = 0;         ///< acts during the first `steps` steps
  bool one_signal = true;      ///< the same for all points
  std::vector<Index3> points;  ///< in the folded frame
  /// One signal: its values over time, at least `steps` of them and as many more as the longest delay.
  /// Otherwise `steps` times one value per point, points fastest.
  std::vector<Real> signals;
  /// Of a transducer: per point, by how many steps the one signal is ahead there. Empty: no delays.
  std::vector<StepIndex> delays;

  /// The value at a point in the step from t to t + 1.
  [[nodiscard]] Real value(StepIndex t, std::size_t point) const noexcept {
    if (!one_signal) return signals[static_cast<std::size_t>(t) * points.size() + point];
    return signals[static_cast<std::size_t>(delays.empty() ? t : t + delays[point])];
  }
  [[nodiscard]] bool acts_in(StepIndex step) const noexcept { return step <= steps; }
  /// The positions in `points` of the points in some planes.
  [[nodiscard]] Range in_planes(Range planes) const noexcept {
    const auto first_from = [&](std::int64_t z) {
      const auto lies_before = [](const Index3& point, std::int64_t plane) { return point.z < plane; };
      return std::lower_bound(points.begin(), points.end(), z, lies_before) - points.begin();
    };
    return {first_from(planes.begin), first_from(planes.end)};
  }
  /// The largest of the mean frequencies of the signals that this rank has.
  [[nodiscard]] double mean_frequency_hz(double dt_s) const {
    if (one_signal) return tailrace::mean_frequency_hz<Real>(signals, dt_s);
    double largest_hz = 0;
    std::vector<Real> signal(static_cast<std::size_t>(steps));
    for (std::size_t point = 0; point < points.size(); ++point) {
      for (StepIndex t = 0; t < steps; ++t) signal[static_cast<std::size_t>(t)] = value(t, point);
      largest_hz = std::max(largest_hz, tailrace::mean_frequency_hz<Real>(signal, dt_s));
    }
    return largest_hz;
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(points.size() * sizeof(Index3) + signals.size() * sizeof(Real) +
                                     delays.size() * sizeof(StepIndex));
  }
};

/// The sources of a run; each is present on all ranks or on none.
template <class Real>
struct Sources {
  std::optional<PointSource<Real>> pressure;                          ///< enters every split density alike
  std::array<std::optional<PointSource<Real>>, axis_count> velocity;  ///< x, y, z
  std::optional<PointSource<Real>> transducer;                        ///< enters the x velocity
  std::optional<Field<Real>> initial_pressure;
};

}  // namespace tailrace::ultrasound
