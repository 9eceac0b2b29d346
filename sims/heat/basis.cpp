// SPDX-License-Identifier: BSD-3-Clause
#include "basis.hpp"

#include <utility>

namespace tailrace::heat {

namespace {

using Small = std::array<std::array<double, inner>, inner>;

/// Solves for several right sides, by elimination; the matrix is diagonally strong enough without pivots.
template <std::size_t columns>
void solve(Small matrix, std::array<std::array<double, columns>, inner>& right) {
  for (std::size_t pivot = 0; pivot < inner; ++pivot)
    for (std::size_t row = 0; row < inner; ++row) {
      if (row == pivot) continue;
      const double factor = matrix[row][pivot] / matrix[pivot][pivot];
      for (std::size_t c = 0; c < inner; ++c) matrix[row][c] -= factor * matrix[pivot][c];
      for (std::size_t c = 0; c < columns; ++c) right[row][c] -= factor * right[pivot][c];
    }
  for (std::size_t row = 0; row < inner; ++row)
    for (double& value : right[row]) value /= matrix[row][row];
}

/// The polynomial of degree 2 with which is tested: Lagrange's of the three inner points.
double test_function(std::size_t which, double at) noexcept {
  double value = 1;
  for (std::size_t other = 0; other < inner; ++other)
    if (other != which)
      value *= (at - gll_places[other + 1]) / (gll_places[which + 1] - gll_places[other + 1]);
  return value;
}

/// Integrals over both halves of the products of the test functions and the nine Lagrange polynomials. Five
/// points of each half are exact.
std::array<std::array<double, both_halves>, inner> tested_halves() noexcept {
  std::array<std::array<double, both_halves>, inner> integrals{};
  for (std::size_t which = 0; which < inner; ++which)
    for (std::size_t half = 0; half < 2; ++half)
      for (std::size_t q = 0; q < points; ++q) {
        const double at = (gll_places[q] + (half == 0 ? -1 : 1)) / 2;
        integrals[which][half * (points - 1) + q] += gll_weights[q] / 2 * test_function(which, at);
      }
  return integrals;
}

Projection make_projection() noexcept {
  auto right = tested_halves();
  Small matrix{};
  for (std::size_t which = 0; which < inner; ++which) {
    for (std::size_t j = 0; j < inner; ++j)
      matrix[which][j] = gll_weights[j + 1] * test_function(which, gll_places[j + 1]);
    right[which].front() -= gll_weights.front() * test_function(which, gll_places.front());
    right[which].back() -= gll_weights.back() * test_function(which, gll_places.back());
  }
  solve(matrix, right);
  Projection projection{};
  projection.front().front() = projection.back().back() = 1;
  for (std::size_t j = 0; j < inner; ++j) projection[j + 1] = right[j];
  return projection;
}

}  // namespace

const Projection& projection() noexcept {
  static const Projection made = make_projection();
  return made;
}

}  // namespace tailrace::heat
