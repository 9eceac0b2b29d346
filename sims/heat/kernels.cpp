// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

namespace tailrace::heat {

namespace {

/// Stiffness with each row over its weight: times the weight of a point it is that of the element.
template <int order>
constexpr Matrix<order> make_weighted() noexcept {
  Matrix<order> weighted = stiffness_matrix<order>;
  for (std::size_t i = 0; i < points<order>; ++i)
    for (double& factor : weighted[i]) factor /= gll_weights<order>[i];
  return weighted;
}

/// A 1-D operator in halves: the points lie symmetric about 0, so what an even function becomes and what an
/// odd one becomes are computed apart, with half of the products (Solomonoff, A fast algorithm for spectral
/// differentiation, J. Comput. Phys. 98, 1992).
template <int order>
struct Halved {
  static constexpr std::size_t pairs = points<order> / 2;
  static constexpr bool has_middle = points<order> % 2 != 0;
  double even[pairs][pairs + 1] = {}, odd[pairs][pairs] = {};  ///< of the first points; the last mirror them
  double middle[pairs + 1] = {};                               ///< of the point at 0
};

template <int order>
constexpr Halved<order> halved(const Matrix<order>& matrix, double factor) noexcept {
  constexpr std::size_t pairs = Halved<order>::pairs, last = points<order> - 1;
  Halved<order> made;
  for (std::size_t i = 0; i < pairs; ++i) {
    for (std::size_t m = 0; m < pairs; ++m) {
      made.even[i][m] = factor * (matrix[i][m] + matrix[i][last - m]) / 2;
      made.odd[i][m] = factor * (matrix[i][m] - matrix[i][last - m]) / 2;
    }
    if (Halved<order>::has_middle) made.even[i][pairs] = factor * matrix[i][pairs];
  }
  if (Halved<order>::has_middle)
    for (std::size_t m = 0; m <= pairs; ++m) made.middle[m] = factor * matrix[pairs][m];
  return made;
}
template <int order>
constexpr Halved<order> weighted_halved = halved<order>(make_weighted<order>(), 1);

enum class Parity { keeps, swaps };  ///< whether even functions stay even, or become odd
enum class Axis { x, y, z };

/// The sum of so many products.
template <std::size_t count>
inline Lanes product(const double* factors, const Lanes* values) noexcept {
  Lanes sum = factors[0] * values[0];
  for (std::size_t m = 1; m < count; ++m) sum += factors[m] * values[m];
  return sum;
}

/// Multiplies a line of points; adds to `into`, but for the first axis.
template <int order, Axis axis, std::size_t stride, Parity parity>
inline void multiply_line(const Halved<order>& by, const Lanes* from, Lanes* into) noexcept {
  constexpr std::size_t pairs = Halved<order>::pairs, last = points<order> - 1;
  constexpr bool has_middle = Halved<order>::has_middle;
  const auto put = [into](std::size_t i, const Lanes& value) {
    into[i * stride] = axis == Axis::x ? value : into[i * stride] + value;
  };
  Lanes even[pairs + 1], odd[pairs];
  for (std::size_t i = 0; i < pairs; ++i) {
    even[i] = from[i * stride] + from[(last - i) * stride];
    odd[i] = from[i * stride] - from[(last - i) * stride];
  }
  if constexpr (has_middle) even[pairs] = from[pairs * stride];
  for (std::size_t i = 0; i < pairs; ++i) {
    const Lanes of_even = product<pairs + has_middle>(by.even[i], even);
    const Lanes of_odd = product<pairs>(by.odd[i], odd);
    put(i, of_even + of_odd);
    put(last - i, parity == Parity::keeps ? of_even - of_odd : of_odd - of_even);
  }
  if constexpr (has_middle && parity == Parity::keeps) put(pairs, product<pairs + 1>(by.middle, even));
  if constexpr (has_middle && parity == Parity::swaps) put(pairs, product<pairs>(by.middle, odd));
}

/// Multiplies each line along an axis.
template <int order, Axis axis, Parity parity>
inline void contract(const Halved<order>& by, const Whole<order>& from, Whole<order>& into) noexcept {
  constexpr std::size_t n = points<order>, x = 1, y = n, z = n * n;
  constexpr std::size_t stride = axis == Axis::x   ? x
                                 : axis == Axis::y ? y
                                                   : z,
                        other = axis == Axis::x ? y : x, outer = axis == Axis::z ? y : z;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const std::size_t first = a * outer + b * other;
      multiply_line<order, axis, stride, parity>(by, from.at + first, into.at + first);
    }
}

}  // namespace

template <int order>
Lanes apply_operator(const Lanes& stiffness, const Lanes& mass, const Whole<order>& from,
                     Whole<order>& into) noexcept {
  contract<order, Axis::x, Parity::keeps>(weighted_halved<order>, from, into);
  contract<order, Axis::y, Parity::keeps>(weighted_halved<order>, from, into);
  contract<order, Axis::z, Parity::keeps>(weighted_halved<order>, from, into);
  Lanes product{};
  for (std::size_t p = 0; p < element_points<order>; ++p) {
    const Lanes value = point_weights<order>[p] * (stiffness * into.at[p] + mass * from.at[p]);
    into.at[p] = value;
    product += value * from.at[p];
  }
  return product;
}

template <int order>
void convect(const Vec3& velocity, const Lanes& gradient, const Whole<order>& source,
             const Whole<order>& field, Whole<order>& change) noexcept {
  const auto along = [&](std::size_t axis) {
    return halved<order>(derivative_matrix<order>, velocity[axis]);
  };
  contract<order, Axis::x, Parity::swaps>(along(0), field, change);
  contract<order, Axis::y, Parity::swaps>(along(1), field, change);
  contract<order, Axis::z, Parity::swaps>(along(2), field, change);
  for (std::size_t p = 0; p < element_points<order>; ++p)
    change.at[p] = source.at[p] - gradient * change.at[p];
}

#define TAILRACE_COMPILE(order)                                                                     \
  template Lanes apply_operator<order>(const Lanes&, const Lanes&, const Whole<order>&,             \
                                       Whole<order>&) noexcept;                                     \
  template void convect<order>(const Vec3&, const Lanes&, const Whole<order>&, const Whole<order>&, \
                               Whole<order>&) noexcept;
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
