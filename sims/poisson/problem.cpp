// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace tailrace::poisson {

const char* to_string(Method method) noexcept {
  switch (method) {
    case Method::jacobi:
      return "jacobi";
    case Method::gauss_seidel:
      return "gauss-seidel";
    case Method::conjugate_gradients:
      break;
  }
  return "cg";
}

double Grid::place(int axis, std::int64_t index) const noexcept {
  const bool round = periodic[static_cast<std::size_t>(axis)];
  return static_cast<double>(index + (round ? 0 : 1)) / static_cast<double>(points(axis) + (round ? 0 : 1));
}

std::array<double, 3> Grid::origin_m() const noexcept {
  std::array<double, 3> origin{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis)
    if (!periodic[axis]) origin[axis] = spacing_m[axis];
  return origin;
}

bool Grid::singular() const noexcept {
  return periodic[0] && periodic[1] && (dimensions == 2 || periodic[2]);
}

namespace {

/// A function of the place along an axis and its second derivative.
struct Factor {
  double value = 1, second = 0;
};
using FactorOf = Factor (*)(double place, bool periodic);

Factor sine(double place, bool periodic) {
  const double frequency = (periodic ? 2 : 1) * std::numbers::pi;
  const double value = std::sin(frequency * place);
  return {value, -frequency * frequency * value};
}

/// 4 s (1 - s) exp(s), or exp(sin(2 pi s)).
Factor smooth(double s, bool periodic) {
  if (!periodic) return {4 * s * (1 - s) * std::exp(s), -4 * s * (3 + s) * std::exp(s)};
  constexpr double frequency = 2 * std::numbers::pi;
  const double sine = std::sin(frequency * s), cosine = std::cos(frequency * s), value = std::exp(sine);
  return {value, frequency * frequency * (cosine * cosine - sine) * value};
}

/// The factors at the points of a range along an axis; derivatives are by length.
std::vector<Factor> factors(const Grid& grid, int axis, Range range, FactorOf factor_of) {
  std::vector<Factor> list(static_cast<std::size_t>(range.size()));
  if (axis >= grid.dimensions) return list;
  const double length_m = grid.length_m(axis);
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    auto& factor = list[static_cast<std::size_t>(i - range.begin)];
    factor = factor_of(grid.place(axis, i), grid.periodic[static_cast<std::size_t>(axis)]);
    factor.second /= length_m * length_m;
  }
  return list;
}

/// `combine` makes a value of the factors along x, y and z.
template <class Combine>
Fill product(const Grid& grid, FactorOf factor_of, const Combine& combine) {
  return [=](const Box& box, std::span<double> out) {
    const auto x = factors(grid, 0, box.x(), factor_of), y = factors(grid, 1, box.y(), factor_of),
               z = factors(grid, 2, box.z(), factor_of);
    std::size_t i = 0;
    for (const auto& along_z : z)
      for (const auto& along_y : y)
        for (const auto& along_x : x) out[i++] = combine(along_x, along_y, along_z);
  };
}

double size_of(const Grid& grid) {
  constexpr double frequency = 2 * std::numbers::pi;
  double size = 0;
  for (int axis = 0; axis < grid.dimensions; ++axis)
    size += frequency * frequency / (grid.length_m(axis) * grid.length_m(axis));
  return size;
}

}  // namespace

Formula find_formula(const std::string& name, const Grid& grid) {
  const FactorOf factor_of = name == "sines" ? sine : name == "smooth" ? smooth : nullptr;
  if (factor_of == nullptr) return {};
  return {.solution = product(
              grid, factor_of,
              [](const Factor& x, const Factor& y, const Factor& z) { return x.value * y.value * z.value; }),
          .rhs = product(grid, factor_of,
                         [](const Factor& x, const Factor& y, const Factor& z) {
                           return -(x.second * y.value * z.value + x.value * y.second * z.value +
                                    x.value * y.value * z.second);
                         }),
          .size = size_of(grid)};
}

}  // namespace tailrace::poisson
