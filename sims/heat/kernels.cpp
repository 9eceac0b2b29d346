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

/// A 1-D operator in halves: the points lie symmetric about 0, so what an even function becomes and what an
/// odd one becomes are computed apart, with half of the products (Solomonoff, A fast algorithm for spectral
/// differentiation, J. Comput. Phys. 98, 1992).
struct Halved {
  double even[2][3] = {}, odd[2][2] = {};  ///< of the first two points; the last two mirror them
  double middle[3] = {};                   ///< of the point at 0
};

constexpr Halved halved(const Matrix& matrix, double factor) noexcept {
  Halved made;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t m = 0; m < 2; ++m) {
      made.even[i][m] = factor * (matrix[i][m] + matrix[i][points - 1 - m]) / 2;
      made.odd[i][m] = factor * (matrix[i][m] - matrix[i][points - 1 - m]) / 2;
    }
    made.even[i][2] = factor * matrix[i][2];
  }
  for (std::size_t m = 0; m < 3; ++m) made.middle[m] = factor * matrix[2][m];
  return made;
}
constexpr Halved weighted_halved = halved(weighted_stiffness, 1);

enum class Parity { keeps, swaps };  ///< whether even functions stay even, or become odd

/// Multiplies a line of points; adds to `into`, but for the first axis.
template <std::size_t stride, Parity parity>
inline void multiply_line(const Halved& by, const Lanes* from, Lanes* into) noexcept {
  const auto put = [into](std::size_t i, const Lanes& value) {
    into[i * stride] = stride == x_stride ? value : into[i * stride] + value;
  };
  const Lanes middle = from[2 * stride];
  const Lanes even[]{from[0] + from[4 * stride], from[stride] + from[3 * stride]};
  const Lanes odd[]{from[0] - from[4 * stride], from[stride] - from[3 * stride]};
  for (std::size_t i = 0; i < 2; ++i) {
    const Lanes of_even = by.even[i][0] * even[0] + by.even[i][1] * even[1] + by.even[i][2] * middle;
    const Lanes of_odd = by.odd[i][0] * odd[0] + by.odd[i][1] * odd[1];
    put(i, of_even + of_odd);
    put(points - 1 - i, parity == Parity::keeps ? of_even - of_odd : of_odd - of_even);
  }
  if constexpr (parity == Parity::keeps)
    put(2, by.middle[0] * even[0] + by.middle[1] * even[1] + by.middle[2] * middle);
  else
    put(2, by.middle[0] * odd[0] + by.middle[1] * odd[1]);
}

/// Multiplies each line along an axis.
template <std::size_t stride, Parity parity>
inline void contract(const Halved& by, const Whole& from, Whole& into) noexcept {
  constexpr std::size_t other = stride == x_stride ? y_stride : x_stride,
                        outer = stride == z_stride ? y_stride : z_stride;
  for (std::size_t a = 0; a < points; ++a)
    for (std::size_t b = 0; b < points; ++b) {
      const std::size_t first = a * outer + b * other;
      multiply_line<stride, parity>(by, from.at + first, into.at + first);
    }
}

}  // namespace

Lanes apply_operator(const Lanes& stiffness, const Lanes& mass, const Whole& from, Whole& into) noexcept {
  contract<x_stride, Parity::keeps>(weighted_halved, from, into);
  contract<y_stride, Parity::keeps>(weighted_halved, from, into);
  contract<z_stride, Parity::keeps>(weighted_halved, from, into);
  Lanes product{};
  for (std::size_t p = 0; p < element_points; ++p) {
    const Lanes value = point_weights[p] * (stiffness * into.at[p] + mass * from.at[p]);
    into.at[p] = value;
    product += value * from.at[p];
  }
  return product;
}

void convect(const Vec3& velocity, const Lanes& gradient, const Whole& source, const Whole& field,
             Whole& change) noexcept {
  contract<x_stride, Parity::swaps>(halved(derivative_matrix, velocity[0]), field, change);
  contract<y_stride, Parity::swaps>(halved(derivative_matrix, velocity[1]), field, change);
  contract<z_stride, Parity::swaps>(halved(derivative_matrix, velocity[2]), field, change);
  for (std::size_t p = 0; p < element_points; ++p) change.at[p] = source.at[p] - gradient * change.at[p];
}

double weight_of(std::size_t point) noexcept {
  return point_weights[point];
}

}  // namespace tailrace::heat
