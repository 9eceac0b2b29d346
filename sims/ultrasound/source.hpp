#pragma once

#include <vector>

#include "field.hpp"
#include "tailrace/base/box.hpp"

namespace tailrace::ultrasound {

/// How source values enter a field; the numbers are those of the input file.
enum class SourceMode : std::uint64_t {
  dirichlet = 0,               ///< the field takes the value
  additive_no_correction = 1,  ///< the value is added at the points
  additive = 2,  ///< the value is added after filtering with cos(c_ref |k| dt / 2) (Cox et al. 2018)
};

/// A time-varying pressure source: its points on this rank's planes, sorted by plane, and their signals.
/// Values are scaled by whoever wrote the input file and are used as they are.
struct PressureSource {
  SourceMode mode = SourceMode::additive;
  StepIndex steps = 0;     ///< acts during the first `steps` steps
  bool one_signal = true;  ///< the same for all points
  std::vector<Index3> points;
  /// `steps` values, or `steps` times one value per point, points fastest.
  std::vector<float> signals;

  [[nodiscard]] float value(StepIndex t, std::size_t point) const noexcept {
    return one_signal ? signals[static_cast<std::size_t>(t)]
                      : signals[static_cast<std::size_t>(t) * points.size() + point];
  }
  /// The positions in `points` of the points in plane z.
  [[nodiscard]] Range in_plane(std::int64_t z) const noexcept;
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(points.size() * sizeof(Index3) + signals.size() * sizeof(float));
  }
};

}  // namespace tailrace::ultrasound
