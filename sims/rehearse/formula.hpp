// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "h5/file.hpp"
#include "tailrace/box.hpp"

namespace tailrace::rehearse {

/// Describes what the cube holds: x + y a + z a^2 + t a^3 in a cube of edge a; in a box of nx x ny x nz
/// points x + y nx + z nx ny + t nx ny nz, which is the same for a cube. Every point has a value of its own
/// at every time.
struct Formula {
  Index3 cells;
  h5::ElementType type = h5::ElementType::float64;  ///< refers to the field: float32 rounds beyond 2^24

  /// Number of a point, which is its value at time 0.
  [[nodiscard]] std::int64_t number(Index3 p) const noexcept { return p.x + cells.x * (p.y + cells.y * p.z); }
  /// The exact value.
  [[nodiscard]] std::int64_t exact(Index3 p, StepIndex t) const noexcept {
    return number(p) + t * cells.volume();
  }
  /// The value as a field of the type holds it.
  [[nodiscard]] double value(Index3 p, StepIndex t) const noexcept { return rounded(exact(p, t), type); }

  /// True if a point is among the rows of a time: every s-th, s = t mod 5, none for s = 0.
  [[nodiscard]] static bool is_row(std::int64_t number, StepIndex t) noexcept {
    constexpr StepIndex period = 5;
    const StepIndex stride = t % period;
    return stride != 0 && number % stride == 0;
  }

  /// A number as an element of a type holds it.
  [[nodiscard]] static double rounded(std::int64_t exact, h5::ElementType type) noexcept {
    const auto number = static_cast<double>(exact);
    return type == h5::ElementType::float32 ? static_cast<double>(static_cast<float>(number)) : number;
  }
};

/// Name of a field's type on the command line and in files.
inline const char* type_name(h5::ElementType type) noexcept {
  return type == h5::ElementType::float32 ? "float32" : "float64";
}

/// Largest values that the types hold without rounding.
inline constexpr std::int64_t largest_exact_float32 = std::int64_t{1} << 24;
inline constexpr std::int64_t largest_exact_float64 = std::int64_t{1} << 53;

}  // namespace tailrace::rehearse
