// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "order.hpp"

/// Polynomials of an order by their values at its Gauss-Lobatto-Legendre points of -1 to 1.
namespace tailrace::heat {

template <int order>
inline constexpr std::size_t points = order + 1;  ///< along an axis
template <int order>
inline constexpr std::size_t element_points = points<order>* points<order>* points<order>;  ///< x fastest
template <int order>
inline constexpr std::size_t inner = points<order> - 2;  ///< along an axis, without both ends
template <int order>
inline constexpr std::size_t inner_points = inner<order>* inner<order>* inner<order>;

template <int order>
using Row = std::array<double, points<order>>;
template <int order>
using Matrix = std::array<Row<order>, points<order>>;

/// Points, ascending, and the weights of their quadrature, which is exact to twice the order less 1.
template <int order>
struct Quadrature {
  Row<order> places, weights;
};

/// Legendre's polynomial of an order at a place, its slope and its curvature.
struct Legendre {
  long double value, slope, curvature;
};
constexpr Legendre legendre(int order, long double at) noexcept {
  Legendre before{1, 0, 0}, last{at, 1, 0};
  for (int n = 1; n < order; ++n) {
    const long double twice = 2 * n + 1;
    const Legendre next{(twice * at * last.value - n * before.value) / (n + 1),
                        before.slope + twice * last.value, before.curvature + twice * last.slope};
    before = last;
    last = next;
  }
  return last;
}

/// The inner points are where Legendre's polynomial has no slope: Newton's method from 1 downwards finds them
/// one by one, each divided out of the next (Maehly 1954).
template <int order>
constexpr Quadrature<order> make_quadrature() noexcept {
  constexpr int steps = 60;
  constexpr std::size_t last = points<order> - 1;
  std::array<long double, points<order>> found{};
  found[0] = 1;
  for (std::size_t i = 1; 2 * i < last; ++i) {
    long double at = 1;
    for (int step = 0; step < steps; ++step) {
      const Legendre here = legendre(order, at);
      long double divided = 0;
      for (std::size_t j = 1; j < i; ++j) divided += here.slope / (at - found[j]);
      at -= here.slope / (here.curvature - divided);
    }
    found[i] = at;
  }
  Quadrature<order> made{};
  for (std::size_t i = 0; 2 * i <= last; ++i) {
    const long double value = legendre(order, found[i]).value;
    made.places[last - i] = static_cast<double>(found[i]);
    made.places[i] = -made.places[last - i];
    made.weights[i] = made.weights[last - i] = static_cast<double>(2 / (order * (order + 1) * value * value));
  }
  if (2 * (last / 2) == last) made.places[last / 2] = 0;
  return made;
}
template <int order>
inline constexpr Quadrature<order> gll = make_quadrature<order>();
template <int order>
inline constexpr Row<order> gll_places = gll<order>.places;
template <int order>
inline constexpr Row<order> gll_weights = gll<order>.weights;

/// Sets the values at a place of the Lagrange polynomials of some others. @local
constexpr void set_lagrange(std::span<const double> places, double at, std::span<double> values) noexcept {
  for (std::size_t i = 0; i < places.size(); ++i) {
    double value = 1;
    for (std::size_t j = 0; j < places.size(); ++j)
      if (j != i) value *= (at - places[j]) / (places[i] - places[j]);
    values[i] = value;
  }
}
/// The values of those of the points.
template <int order>
constexpr Row<order> lagrange(double at) noexcept {
  Row<order> values{};
  set_lagrange(gll_places<order>, at, values);
  return values;
}

/// Derivatives of the Lagrange polynomials, a row per place.
template <int order>
constexpr Matrix<order> make_derivative() noexcept {
  const auto& at = gll_places<order>;
  Matrix<order> d{};
  for (std::size_t i = 0; i < points<order>; ++i)
    for (std::size_t j = 0; j < points<order>; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < points<order>; ++k) {
        if (k == j) continue;
        double term = 1 / (at[j] - at[k]);
        for (std::size_t m = 0; m < points<order>; ++m)
          if (m != j && m != k) term *= (at[i] - at[m]) / (at[j] - at[m]);
        sum += term;
      }
      d[i][j] = sum;
    }
  return d;
}
template <int order>
inline constexpr Matrix<order> derivative_matrix = make_derivative<order>();

/// Integrals of the products of two derivatives.
template <int order>
constexpr Matrix<order> make_stiffness() noexcept {
  const auto& d = derivative_matrix<order>;
  Matrix<order> k{};
  for (std::size_t i = 0; i < points<order>; ++i)
    for (std::size_t j = 0; j < points<order>; ++j)
      for (std::size_t q = 0; q < points<order>; ++q) k[i][j] += d[q][i] * gll_weights<order>[q] * d[q][j];
  return k;
}
template <int order>
inline constexpr Matrix<order> stiffness_matrix = make_stiffness<order>();

/// From the values of a polynomial to those at the points of the lower or the upper half.
template <int order>
constexpr Matrix<order> make_half(double shift) noexcept {
  Matrix<order> half{};
  for (std::size_t i = 0; i < points<order>; ++i)
    half[i] = lagrange<order>((gll_places<order>[i] + shift) / 2);
  return half;
}
template <int order>
inline constexpr std::array<Matrix<order>, 2> halves{make_half<order>(-1), make_half<order>(1)};

/// The half that `joining` takes a point's values from: the lower one where both have the point.
template <int order>
constexpr std::size_t half_of(std::size_t point) noexcept {
  return 2 * point < points<order> ? 0 : 1;
}
/// Of each point, its values in that half.
template <int order>
constexpr Matrix<order> make_joining() noexcept {
  Matrix<order> joining{};
  for (std::size_t i = 0; i < points<order>; ++i)
    joining[i] = lagrange<order>(2 * gll_places<order>[i] + (half_of<order>(i) == 0 ? 1 : -1));
  return joining;
}
template <int order>
inline constexpr Matrix<order> joining = make_joining<order>();

/// Points of two halves, of which one is common.
template <int order>
inline constexpr std::size_t both_halves = 2 * points<order> - 1;
/// What an edge whose halves have values of their own sees of them: rows for its points. The ends are theirs;
/// between, the difference is orthogonal to polynomials of two orders less.
template <int order>
using Projection = std::array<std::array<double, both_halves<order>>, points<order>>;

/// @local
template <int order>
const Projection<order>& projection() noexcept;

/// For what is not compiled for each order: the points along an axis. @local
std::span<const double> gll_places_of(int order);
/// Points of an element. @local
constexpr std::size_t element_points_of(int order) noexcept {
  const auto along = static_cast<std::size_t>(order) + 1;
  return along * along * along;
}

}  // namespace tailrace::heat
