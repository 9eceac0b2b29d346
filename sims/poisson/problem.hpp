// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>

#include "tailrace/box.hpp"

namespace tailrace::poisson {

enum class Method { jacobi, gauss_seidel, conjugate_gradients };
const char* to_string(Method method) noexcept;

/// The grid of unknowns. Along an axis with Dirichlet sides, unknown i of n is at (i + 1) h, and u is given
/// at 0 and (n + 1) h; along a periodic axis it is at i h, and i = n is i = 0 again.
struct Grid {
  Index3 cells{1, 1, 1};
  int dimensions = 2;  ///< 2: there is one layer along z, and no derivative
  std::array<double, 3> spacing_m{1, 1, 1};
  std::array<bool, 3> periodic{};

  [[nodiscard]] std::int64_t points(int axis) const noexcept {
    return axis == 0 ? cells.x : axis == 1 ? cells.y : cells.z;
  }
  /// The length of the box along an axis.
  [[nodiscard]] double length_m(int axis) const noexcept {
    const auto i = static_cast<std::size_t>(axis);
    return spacing_m[i] * static_cast<double>(points(axis) + (periodic[i] ? 0 : 1));
  }
  /// The place of a point along an axis as a part of the length.
  [[nodiscard]] double place(int axis, std::int64_t index) const noexcept;
  /// Where point 0 lies, along x, y, z.
  [[nodiscard]] std::array<double, 3> origin_m() const noexcept;
  /// All axes are periodic: u is known up to a constant.
  [[nodiscard]] bool singular() const noexcept;
};

/// Writes the values of a field at the points of a box, x fastest.
using Fill = std::function<void(const Box& box, std::span<double> out)>;

/// A solution that is known, and the right-hand side that belongs to it; u is 0 on Dirichlet sides.
struct Formula {
  Fill solution, rhs;
  double size = 0;  ///< of the terms of the right-hand side, beside which it may be rounding alone
};
/// The formula of this name: "sines", an eigenfunction of the discrete operator too, or "smooth". Nothing for
/// another name. @local
Formula find_formula(const std::string& name, const Grid& grid);

/// -(d2u/dx2 + d2u/dy2 + d2u/dz2) = rhs, with differences of second order.
struct Problem {
  Grid grid;
  Fill rhs;
  Fill solution;    ///< empty: not known
  double size = 0;  ///< of the terms of the right-hand side, where it is a formula
  double wall = 0;  ///< u on Dirichlet sides
  Method method = Method::conjugate_gradients;
  Index3 block{1, 1, 1};  ///< points of a block along x, y, z
  double tolerance = 0;   ///< the run ends when the residual is so small a part of the first one; 0: never
  StepIndex check_every = 10;  ///< sweeps from one look at the residual to the next
};

}  // namespace tailrace::poisson
