// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

/// Polynomials of degree 4 by their values at the five Gauss-Lobatto-Legendre points of -1 to 1.
namespace tailrace::heat {

inline constexpr std::size_t points = 5;                                 ///< along an axis
inline constexpr std::size_t element_points = points * points * points;  ///< x fastest
inline constexpr std::size_t inner = points - 2;                         ///< along an axis, without both ends
inline constexpr std::size_t inner_points = inner * inner * inner;

using Row = std::array<double, points>;
using Matrix = std::array<Row, points>;

inline constexpr double inner_place = 0.65465367070797714379829245624686;  // sqrt(3 / 7)
inline constexpr Row gll_places{-1, -inner_place, 0, inner_place, 1};
inline constexpr Row gll_weights{0.1, 49.0 / 90, 32.0 / 45, 49.0 / 90, 0.1};

/// Values of the Lagrange polynomials of the points at a place. @local
constexpr Row lagrange(double at) noexcept {
  Row values{};
  for (std::size_t i = 0; i < points; ++i) {
    double value = 1;
    for (std::size_t j = 0; j < points; ++j)
      if (j != i) value *= (at - gll_places[j]) / (gll_places[i] - gll_places[j]);
    values[i] = value;
  }
  return values;
}

/// Derivatives of the Lagrange polynomials, a row per place.
constexpr Matrix make_derivative() noexcept {
  Matrix d{};
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < points; ++k) {
        if (k == j) continue;
        double term = 1 / (gll_places[j] - gll_places[k]);
        for (std::size_t m = 0; m < points; ++m)
          if (m != j && m != k) term *= (gll_places[i] - gll_places[m]) / (gll_places[j] - gll_places[m]);
        sum += term;
      }
      d[i][j] = sum;
    }
  return d;
}
inline constexpr Matrix derivative_matrix = make_derivative();

/// Integrals of the products of two derivatives.
constexpr Matrix make_stiffness() noexcept {
  Matrix k{};
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      for (std::size_t q = 0; q < points; ++q)
        k[i][j] += derivative_matrix[q][i] * gll_weights[q] * derivative_matrix[q][j];
  return k;
}
inline constexpr Matrix stiffness_matrix = make_stiffness();

/// From the values of a polynomial to those at the points of the lower or the upper half.
constexpr Matrix make_half(double shift) noexcept {
  Matrix half{};
  for (std::size_t i = 0; i < points; ++i) half[i] = lagrange((gll_places[i] + shift) / 2);
  return half;
}
inline constexpr std::array<Matrix, 2> halves{make_half(-1), make_half(1)};

/// Of each point, its values in the half where it lies: in the lower one where both do.
constexpr Matrix make_joining() noexcept {
  Matrix joining{};
  for (std::size_t i = 0; i < points; ++i)
    joining[i] = lagrange(2 * gll_places[i] + (i <= points / 2 ? 1 : -1));
  return joining;
}
inline constexpr Matrix joining = make_joining();
/// The half that `joining` takes a point's values from.
constexpr std::size_t half_of(std::size_t point) noexcept {
  return point <= points / 2 ? 0 : 1;
}

/// Points of two halves, of which one is common.
inline constexpr std::size_t both_halves = 2 * points - 1;
/// What an edge whose halves have values of their own sees of them: rows for its points. The ends are theirs;
/// between, the difference is orthogonal to polynomials of degree 2.
using Projection = std::array<std::array<double, both_halves>, points>;
/// @local
const Projection& projection() noexcept;

}  // namespace tailrace::heat
