// SPDX-License-Identifier: BSD-3-Clause
#include "basis.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "entities.hpp"
#include "kernels.hpp"
#include "pattern.hpp"
#include "transfer.hpp"

using namespace tailrace;
using namespace tailrace::heat;

namespace {

constexpr double rounding = 4e-15;

/// Numbers of the specification that was checked against NPB's program.
void check_row(std::span<const double> row, const std::vector<double>& expected) {
  REQUIRE(row.size() == expected.size());
  for (std::size_t i = 0; i < row.size(); ++i) CHECK(std::abs(row[i] - expected[i]) < rounding);
}

/// Calls `body(std::integral_constant<int, order>)` for every order.
template <class Body>
void for_each_order(Body body) {
  for (int order = lowest_order; order <= highest_order; ++order) {
    CAPTURE(order);
    with_order(order, body);
  }
}

/// Of a degree along each axis.
double polynomial(int degree, double x, double y, double z) {
  return std::pow(x, degree) - 2 * std::pow(y, degree - 1) * z + x * std::pow(z, degree) - 3 * x * y * z +
         0.5;
}

template <int order>
ElementValues<order> values_on(const Leaf& leaf) {
  constexpr std::size_t n = points<order>;
  ElementValues<order> values{};
  const auto at = [&](std::size_t d, std::size_t i) {
    return to_length(leaf.low[d]) + to_length(leaf.size()) * (gll_places<order>[i] + 1) / 2;
  };
  for (std::size_t p = 0; p < element_points<order>; ++p)
    values[p] = polynomial(order, at(0, p % n), at(1, p / n % n), at(2, p / (n * n)));
  return values;
}

template <std::size_t count>
double difference(const std::array<double, count>& a, const std::array<double, count>& b) {
  double most = 0;
  for (std::size_t p = 0; p < count; ++p) most = std::max(most, std::abs(a[p] - b[p]));
  return most;
}

}  // namespace

TEST_CASE("points and weights are those of Gauss, Lobatto and Legendre") {
  CHECK(gll_places<2> == Row<2>{-1, 0, 1});
  check_row(gll_weights<2>, {1.0 / 3, 4.0 / 3, 1.0 / 3});
  check_row(gll_places<3>, {-1, -std::sqrt(0.2), std::sqrt(0.2), 1});
  check_row(gll_weights<3>, {1.0 / 6, 5.0 / 6, 5.0 / 6, 1.0 / 6});
  CHECK(gll_places<4> == Row<4>{-1, -0.6546536707079771438, 0, 0.6546536707079771438, 1});
  CHECK(gll_weights<4> == Row<4>{0.1, 49.0 / 90, 32.0 / 45, 49.0 / 90, 0.1});
  // The quadrature is exact to twice the order less 1, and of no higher degree.
  for_each_order([](auto order) {
    for (int degree = 0; degree <= 2 * order; ++degree) {
      double sum = 0;
      for (std::size_t i = 0; i < points<order>; ++i)
        sum += gll_weights<order>[i] * std::pow(gll_places<order>[i], degree);
      const double exact = degree % 2 == 0 ? 2.0 / (degree + 1) : 0;
      if (degree < 2 * order)
        CHECK(std::abs(sum - exact) < rounding);
      else
        CHECK(std::abs(sum - exact) > 1e-6);
    }
  });
}

TEST_CASE("derivatives and stiffness are those of NPB's basis") {
  check_row(derivative_matrix<4>[0], { -5, 6.756502488724238, -2.666666666666667, 1.410164177942427, -0.5 });
  check_row(derivative_matrix<4>[1],
            { -1.240990253030982, 0, 1.745743121887939, -0.7637626158259734, 0.2590097469690172 });
  CHECK(std::abs(stiffness_matrix<4>[0][0] - 3.5) < rounding);
  CHECK(std::abs(stiffness_matrix<4>[0][1] + 3.912885075440301) < rounding);
  CHECK(std::abs(stiffness_matrix<4>[1][1] - 6.351851851851852) < 2 * rounding);
  CHECK(std::abs(stiffness_matrix<4>[2][2] - 4.740740740740741) < 2 * rounding);
}

TEST_CASE("derivatives are exact for polynomials of each order") {
  for_each_order([](auto order) {
    for (std::size_t i = 0; i < points<order>; ++i) {
      double slope = 0;
      for (std::size_t j = 0; j < points<order>; ++j)
        slope += derivative_matrix<order>[i][j] * std::pow(gll_places<order>[j], order);
      CHECK(std::abs(slope - order * std::pow(gll_places<order>[i], order - 1)) < 1e-13);
    }
  });
}

TEST_CASE("refinement and coarsening have NPB's factors") {
  check_row(halves<4>[0][1], {
    0.3385078435248143, 0.7898516348912331, -0.1884018684471238, 0.09202967302175333, -0.03198728299067715
  });
  check_row(joining<4>[1], {
    -0.1179652785083428, 0.5505046330389332, 0.7024534364259963, -0.1972224518285866, 0.06222966087199998
  });
}

TEST_CASE("the projection of split edges is NPB's") {
  check_row(projection<4>()[1],
            {-0.1772843218615690, 0.7152146412463197, 0.4398680650316104, 0.0833333333333333, 0,
             -0.0485479745796533, -0.0589156840792294, 0.0833333333333333, -0.0370013924241453});
  check_row(projection<4>()[2],
            {0.09375, -0.2285757930375471, 0.2083333333333333, 0.3561799597042137, 0.140625,
             0.3561799597042137, 0.2083333333333333, -0.2285757930375471, 0.09375});
}

TEST_CASE("the projection of split edges is orthogonal to polynomials of two orders less") {
  for_each_order([](auto order) {
    constexpr std::size_t n = points<order>;
    const auto& at = gll_places<order>;
    const auto& weights = gll_weights<order>;
    for (std::size_t column = 0; column < both_halves<order>; ++column)
      for (int power = 0; power <= order - 2; ++power) {
        double left = 0, right = 0;
        for (std::size_t i = 0; i < n; ++i)
          left += weights[i] * std::pow(at[i], power) * projection<order>()[i][column];
        for (std::size_t half = 0; half < 2; ++half)
          for (std::size_t q = 0; q < n; ++q)
            if (half * (n - 1) + q == column)
              right += weights[q] / 2 * std::pow((at[q] + (half == 0 ? -1 : 1)) / 2, power);
        CHECK(std::abs(left - right) < rounding);
      }
  });
}

TEST_CASE("transfer keeps polynomials of each order") {
  const Leaf parent{{unit_length / 2, 0, unit_length / 4 * 3}, 2};
  for_each_order([&](auto order) {
    const auto whole = values_on<order>(parent);
    std::array<ElementValues<order>, 8> children;
    for (int i = 0; i < 8; ++i) {
      auto& child = children[static_cast<std::size_t>(i)] = refined<order>(whole, i);
      CHECK(difference(child, values_on<order>(parent.child(i))) < 1e-13);
    }
    CHECK(difference(coarsened<order>(children), whole) < 1e-13);
  });
}

TEST_CASE("keys on Morton's curve order the children of a leaf") {
  const Leaf leaf{{unit_length / 8 * 3, unit_length / 2, unit_length / 8}, 3};
  std::uint64_t next = leaf.key();
  for (int i = 0; i < 8; ++i) {
    CHECK(leaf.child(i).key() == next);
    next = leaf.child(i).end_key();
  }
  CHECK(next == leaf.end_key());
  CHECK(Leaf{}.end_key() == morton_end);
}

TEST_CASE("the diagonal of a pattern is that of its columns one by one, and sums go back by the transpose") {
  for_each_order([](auto order) {
    for (const Splits splits :
         {0U, 1U << 7U, 0x3ffffU, 1U << 13U | 1U << 6U | 1U << 7U | 1U << 9U | 1U << 11U}) {
      const Pattern<order> pattern(splits);
      BoundaryValues<order> some;
      for (std::size_t i = 0; i < some.size(); ++i) some[i] = std::sin(static_cast<double>(i));
      std::vector<double> back(pattern.columns());
      pattern.to_columns(some, back.data());
      double worst = 0;
      for (std::size_t c = 0; c < pattern.columns(); ++c) {
        const auto alone =
            pattern.to_points([&](auto column) { return static_cast<std::size_t>(column) == c; });
        std::array<double, element_points<order>> values{};
        double product = 0;
        for (std::size_t i = 0; i < alone.size(); ++i) {
          values[boundary<order>[i]] = alone[i];
          product += alone[i] * some[i];
        }
        const auto [stiffness, mass] = energies_of<order>(values);
        worst = std::max({worst, std::abs(pattern.diagonals()[c].stiffness - stiffness),
                          std::abs(pattern.diagonals()[c].mass - mass), std::abs(back[c] - product)});
      }
      CHECK(worst < 1e-13);
    }
  });
}

namespace {

/// The values of a polynomial at the mortar points of an entity of a leaf.
template <int order>
void append_points(const Leaf& leaf, const Entity& entity, std::vector<double>& columns) {
  // Its size is the leaf's, or half of it.
  std::int32_t size = leaf.size();
  const auto aligned = [&](std::size_t d) { return entity.middle[d] % size == (size / 2) % size; };
  if (entity.kind == Kind::edge && !aligned(entity.axis)) size /= 2;
  if (entity.kind == Kind::face && !aligned(axes_of_face(entity.axis)[0])) size /= 2;
  const auto at = [&](std::size_t d, std::size_t i) {
    return to_length(entity.middle[d]) + to_length(size) / 2 * gll_places<order>[i];
  };
  std::array<double, 3> place{to_length(entity.middle[0]), to_length(entity.middle[1]),
                              to_length(entity.middle[2])};
  const auto append = [&] { columns.push_back(polynomial(order, place[0], place[1], place[2])); };
  if (entity.kind == Kind::vertex) append();
  if (entity.kind == Kind::edge)
    for (std::size_t i = 1; i + 1 < points<order>; ++i) {
      place[entity.axis] = at(entity.axis, i);
      append();
    }
  if (entity.kind == Kind::face)
    for (std::size_t j = 1; j + 1 < points<order>; ++j)
      for (std::size_t i = 1; i + 1 < points<order>; ++i) {
        const auto [u, v] = axes_of_face(entity.axis);
        place[u] = at(u, i), place[v] = at(v, j);
        append();
      }
}

}  // namespace

TEST_CASE("every pattern reproduces polynomials of each order from its mortar points") {
  const Leaf leaf{{unit_length / 4, unit_length / 2, 0}, 2};
  for_each_order([&](auto order) {
    const auto expected = values_on<order>(leaf);
    // A split face splits its four edges.
    for (const Splits splits :
         {0U, 1U, 0xfffU, 0x3ffffU, 1U << 12U | 1U << 4U | 1U << 5U | 1U << 8U | 1U << 10U}) {
      const Pattern<order> pattern(splits);
      std::vector<double> columns;
      for_each_entity(leaf, splits,
                      [&](const Entity& entity) { append_points<order>(leaf, entity, columns); });
      REQUIRE(columns.size() == pattern.columns());
      const auto values =
          pattern.to_points([&](auto column) { return columns[static_cast<std::size_t>(column)]; });
      double worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        worst = std::max(worst, std::abs(values[i] - expected[boundary<order>[i]]));
      CHECK(worst < 1e-13);
    }
  });
}

TEST_CASE("the operator of an element is symmetric, and exact for straight lines") {
  for_each_order([](auto order) {
    Whole<order> a{}, b{}, of_a, of_b;
    for (std::size_t p = 0; p < element_points<order>; ++p) {
      a.at[p] += std::sin(static_cast<double>(p));
      b.at[p] += std::cos(static_cast<double>(3 * p));
    }
    const Lanes stiffness = Lanes{} + 0.3, mass = Lanes{} + 0.7;
    apply_operator<order>(stiffness, mass, a, of_a);
    apply_operator<order>(stiffness, mass, b, of_b);
    double left = 0, right = 0, size = 0;
    for (std::size_t p = 0; p < element_points<order>; ++p) {
      left += of_a.value(p, 0) * b.value(p, 0);
      right += a.value(p, 0) * of_b.value(p, 0);
      size += std::abs(of_a.value(p, 0) * b.value(p, 0));
    }
    CHECK(std::abs(left - right) < 1e-13 * size);
    // Of x alone: 8 (stiffness, its slope is 1) and 8 / 3 (mass) on the cube of side 2.
    for (std::size_t p = 0; p < element_points<order>; ++p)
      a.at[p] = Lanes{} + gll_places<order>[p % points<order>];
    const double energy = apply_operator<order>(stiffness, mass, a, of_a)[0];
    CHECK(std::abs(energy - (0.3 * 8 + 0.7 * 8 / 3)) < 1e-13);
  });
}

TEST_CASE("an order that is not compiled is an error") {
  for (const int order : {lowest_order - 1, highest_order + 1}) CHECK_THROWS(gll_places_of(order));
}
