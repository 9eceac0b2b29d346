// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

namespace tailrace::heat {

namespace {

constexpr std::size_t x_stride = 1, y_stride = points, z_stride = points * points;

constexpr std::array<double, element_points> make_weights() noexcept {
  std::array<double, element_points> all{};
  for (std::size_t p = 0; p < element_points; ++p)
    all[p] = gll_weights[p % points] * gll_weights[p / points % points] * gll_weights[p / (points * points)];
  return all;
}
constexpr auto point_weights = make_weights();

/// Stiffness with each row over its weight: times the weight of a point it is that of the element.
constexpr Matrix make_weighted() noexcept {
  Matrix weighted = stiffness_matrix;
  for (std::size_t i = 0; i < points; ++i)
    for (double& factor : weighted[i]) factor /= gll_weights[i];
  return weighted;
}
constexpr Matrix weighted_stiffness = make_weighted();

/// Calls `visit(first)` for the points at which lines along an axis begin.
template <std::size_t stride, class Visit>
inline void for_each_line(Visit visit) noexcept {
  for (std::size_t a = 0; a < points; ++a)
    for (std::size_t b = 0; b < points; ++b) {
      if constexpr (stride == x_stride) visit((a * points + b) * points);
      if constexpr (stride == y_stride) visit(a * z_stride + b);
      if constexpr (stride == z_stride) visit(a * points + b);
    }
}

/// Multiplies each line along an axis by a matrix; adds to `into`, but for the first axis.
template <std::size_t stride>
inline void contract(const Matrix& matrix, const Whole& from, Whole& into) noexcept {
  for_each_line<stride>([&](std::size_t first) {
    Lanes line[points];
    for (std::size_t m = 0; m < points; ++m) line[m] = from.at[first + m * stride];
    for (std::size_t i = 0; i < points; ++i) {
      Lanes sum = stride == x_stride ? Lanes{} : into.at[first + i * stride];
      for (std::size_t m = 0; m < points; ++m) sum += matrix[i][m] * line[m];
      into.at[first + i * stride] = sum;
    }
  });
}

Matrix scaled(const Matrix& matrix, double factor) noexcept {
  Matrix product = matrix;
  for (auto& row : product)
    for (double& value : row) value *= factor;
  return product;
}

}  // namespace

void apply_operator(const Lanes& stiffness, const Lanes& mass, const Whole& from, Whole& into) noexcept {
  contract<x_stride>(weighted_stiffness, from, into);
  contract<y_stride>(weighted_stiffness, from, into);
  contract<z_stride>(weighted_stiffness, from, into);
  for (std::size_t p = 0; p < element_points; ++p)
    into.at[p] = point_weights[p] * (stiffness * into.at[p] + mass * from.at[p]);
}

void convect(const Vec3& velocity, const Lanes& gradient, const Whole& source, const Whole& field,
             Whole& change) noexcept {
  contract<x_stride>(scaled(derivative_matrix, velocity[0]), field, change);
  contract<y_stride>(scaled(derivative_matrix, velocity[1]), field, change);
  contract<z_stride>(scaled(derivative_matrix, velocity[2]), field, change);
  for (std::size_t p = 0; p < element_points; ++p) change.at[p] = source.at[p] - gradient * change.at[p];
}

double weight_of(std::size_t point) noexcept {
  return point_weights[point];
}

}  // namespace tailrace::heat
