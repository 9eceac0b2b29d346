// SPDX-License-Identifier: BSD-3-Clause
#include "basis.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "entities.hpp"
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

double polynomial(double x, double y, double z) {
  return std::pow(x, 4) - 2 * std::pow(y, 3) * z + x * std::pow(z, 4) - 3 * x * y * z + 0.5;
}

ElementValues values_on(const Leaf& leaf) {
  ElementValues values{};
  const auto at = [&](std::size_t d, std::size_t i) {
    return to_length(leaf.low[d]) + to_length(leaf.size()) * (gll_places[i] + 1) / 2;
  };
  for (std::size_t p = 0; p < element_points; ++p)
    values[p] = polynomial(at(0, p % points), at(1, p / points % points), at(2, p / (points * points)));
  return values;
}

double difference(const ElementValues& a, const ElementValues& b) {
  double most = 0;
  for (std::size_t p = 0; p < element_points; ++p) most = std::max(most, std::abs(a[p] - b[p]));
  return most;
}

}  // namespace

TEST_CASE("derivatives and stiffness are those of NPB's basis") {
  check_row(derivative_matrix[0], {-5, 6.756502488724238, -2.666666666666667, 1.410164177942427, -0.5});
  check_row(derivative_matrix[1],
            {-1.240990253030982, 0, 1.745743121887939, -0.7637626158259734, 0.2590097469690172});
  CHECK(std::abs(stiffness_matrix[0][0] - 3.5) < rounding);
  CHECK(std::abs(stiffness_matrix[0][1] + 3.912885075440301) < rounding);
  CHECK(std::abs(stiffness_matrix[1][1] - 6.351851851851852) < 2 * rounding);
  CHECK(std::abs(stiffness_matrix[2][2] - 4.740740740740741) < 2 * rounding);
}

TEST_CASE("refinement and coarsening have NPB's factors") {
  check_row(halves[0][1], {0.3385078435248143, 0.7898516348912331, -0.1884018684471238, 0.09202967302175333,
                           -0.03198728299067715});
  check_row(joining[1], {-0.1179652785083428, 0.5505046330389332, 0.7024534364259963, -0.1972224518285866,
                         0.06222966087199998});
}

TEST_CASE("the projection of split edges is NPB's, and orthogonal to parabolas") {
  check_row(projection()[1],
            {-0.1772843218615690, 0.7152146412463197, 0.4398680650316104, 0.0833333333333333, 0,
             -0.0485479745796533, -0.0589156840792294, 0.0833333333333333, -0.0370013924241453});
  check_row(projection()[2], {0.09375, -0.2285757930375471, 0.2083333333333333, 0.3561799597042137, 0.140625,
                              0.3561799597042137, 0.2083333333333333, -0.2285757930375471, 0.09375});
  for (std::size_t column = 0; column < both_halves; ++column)
    for (int power = 0; power <= 2; ++power) {
      double left = 0, right = 0;
      for (std::size_t i = 0; i < points; ++i)
        left += gll_weights[i] * std::pow(gll_places[i], power) * projection()[i][column];
      for (std::size_t half = 0; half < 2; ++half)
        for (std::size_t q = 0; q < points; ++q)
          if (half * (points - 1) + q == column)
            right += gll_weights[q] / 2 * std::pow((gll_places[q] + (half == 0 ? -1 : 1)) / 2, power);
      CHECK(std::abs(left - right) < rounding);
    }
}

TEST_CASE("transfer keeps polynomials of degree 4") {
  const Leaf parent{{unit_length / 2, 0, unit_length / 4 * 3}, 2};
  const auto whole = values_on(parent);
  std::array<ElementValues, 8> children;
  for (int i = 0; i < 8; ++i) {
    children[static_cast<std::size_t>(i)] = refined(whole, i);
    CHECK(difference(children[static_cast<std::size_t>(i)], values_on(parent.child(i))) < 1e-13);
  }
  CHECK(difference(coarsened(children), whole) < 1e-13);
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
  for (const Splits splits :
       {0U, 1U << 7U, 0x3ffffU, 1U << 13U | 1U << 6U | 1U << 7U | 1U << 9U | 1U << 11U}) {
    const Pattern pattern(splits);
    BoundaryValues some;
    for (std::size_t i = 0; i < boundary_points; ++i) some[i] = std::sin(static_cast<double>(i));
    std::vector<double> back(pattern.columns());
    pattern.to_columns(some, back.data());
    for (std::size_t c = 0; c < pattern.columns(); ++c) {
      const auto alone =
          pattern.to_points([&](auto column) { return static_cast<std::size_t>(column) == c; });
      std::array<double, element_points> values{};
      double product = 0;
      for (std::size_t i = 0; i < boundary_points; ++i) {
        values[boundary[i]] = alone[i];
        product += alone[i] * some[i];
      }
      const auto [stiffness, mass] = energies_of(values);
      CHECK(std::abs(pattern.diagonals()[c].stiffness - stiffness) < 1e-13);
      CHECK(std::abs(pattern.diagonals()[c].mass - mass) < 1e-13);
      CHECK(std::abs(back[c] - product) < 1e-13);
    }
  }
}

TEST_CASE("every pattern reproduces polynomials of degree 4 from its mortar points") {
  const Leaf leaf{{unit_length / 4, unit_length / 2, 0}, 2};
  const auto expected = values_on(leaf);
  // A split face splits its four edges.
  for (const Splits splits :
       {0U, 1U, 0xfffU, 0x3ffffU, 1U << 12U | 1U << 4U | 1U << 5U | 1U << 8U | 1U << 10U}) {
    const Pattern pattern(splits);
    std::vector<double> columns;
    for_each_entity(leaf, splits, [&](const Entity& entity) {
      // The points of an entity, from the size that its level has.
      std::int32_t size = leaf.size();
      const auto aligned = [&](std::size_t d) { return entity.middle[d] % size == (size / 2) % size; };
      if (entity.kind == Kind::edge && !aligned(entity.axis)) size /= 2;
      if (entity.kind == Kind::face && !aligned(axes_of_face(entity.axis)[0])) size /= 2;
      const auto at = [&](std::size_t d, std::size_t i) {
        return to_length(entity.middle[d]) + to_length(size) / 2 * gll_places[i];
      };
      std::array<double, 3> place{to_length(entity.middle[0]), to_length(entity.middle[1]),
                                  to_length(entity.middle[2])};
      if (entity.kind == Kind::vertex) columns.push_back(polynomial(place[0], place[1], place[2]));
      if (entity.kind == Kind::edge)
        for (std::size_t i = 1; i + 1 < points; ++i) {
          place[entity.axis] = at(entity.axis, i);
          columns.push_back(polynomial(place[0], place[1], place[2]));
        }
      if (entity.kind == Kind::face)
        for (std::size_t j = 1; j + 1 < points; ++j)
          for (std::size_t i = 1; i + 1 < points; ++i) {
            const auto [u, v] = axes_of_face(entity.axis);
            place[u] = at(u, i), place[v] = at(v, j);
            columns.push_back(polynomial(place[0], place[1], place[2]));
          }
    });
    REQUIRE(columns.size() == pattern.columns());
    const auto values =
        pattern.to_points([&](auto column) { return columns[static_cast<std::size_t>(column)]; });
    for (std::size_t i = 0; i < boundary_points; ++i)
      CHECK(std::abs(values[i] - expected[boundary[i]]) < 1e-13);
  }
}
