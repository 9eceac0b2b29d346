// SPDX-License-Identifier: BSD-3-Clause
// Blocks of any shape against the equation written out point by point.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "kernels.hpp"

namespace tailrace::test {

namespace {

using namespace poisson;

/// A value that no symmetry of the grid repeats.
double value_at(Index3 p) {
  return std::sin(1 + 3.7 * static_cast<double>(p.x) + 1.3 * static_cast<double>(p.y * p.y) +
                  0.9 * static_cast<double>(p.z));
}

/// The value beside a point, with what is beyond the sides.
double beside(const Problem& problem, Index3 p) {
  const std::array n{problem.grid.cells.x, problem.grid.cells.y, problem.grid.cells.z};
  std::array<std::int64_t, 3> at{p.x, p.y, p.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (at[axis] >= 0 && at[axis] < n[axis]) continue;
    if (!problem.grid.periodic[axis]) return problem.wall;
    at[axis] = (at[axis] + n[axis]) % n[axis];
  }
  return value_at({at[0], at[1], at[2]});
}

/// -div grad u at a point.
double operator_at(const Problem& problem, Index3 p) {
  double sum = 0;
  for (int axis = 0; axis < problem.grid.dimensions; ++axis) {
    const double h = problem.grid.spacing_m[static_cast<std::size_t>(axis)];
    for (const std::int64_t by : {-1, 1}) {
      Index3 q = p;
      (axis == 0 ? q.x : axis == 1 ? q.y : q.z) += by;
      sum += (value_at(p) - beside(problem, q)) / (h * h);
    }
  }
  return sum;
}

Values values_of(const Box& box) {
  Values values(static_cast<std::size_t>(box.volume()));
  std::size_t i = 0;
  for (auto z = box.lo.z; z < box.hi.z; ++z)
    for (auto y = box.lo.y; y < box.hi.y; ++y)
      for (auto x = box.lo.x; x < box.hi.x; ++x) values[i++] = value_at({x, y, z});
  return values;
}

void check_blocks(const Problem& problem) {
  const BlockGrid blocks(problem.grid.cells, problem.block, 1);
  const Kernels kernels(problem, blocks);
  std::int64_t points = 0;
  for (int number = 0; number < blocks.blocks(); ++number) {
    std::vector<Values> edges;
    std::vector<const Values*> around;
    for (int side = 0; side < 2 * problem.grid.dimensions; ++side) {
      const int other = blocks.neighbour(number, side);
      edges.push_back(kernels.edges(other, values_of(blocks.box(other))));
    }
    for (const auto& one : edges) around.push_back(&one);
    const Box box = blocks.box(number);
    const auto u = values_of(box), rhs = Values(u.size());
    const auto residual = kernels.residual(number, u, rhs, around);
    std::size_t i = 0;
    for (auto z = box.lo.z; z < box.hi.z; ++z)
      for (auto y = box.lo.y; y < box.hi.y; ++y)
        for (auto x = box.lo.x; x < box.hi.x; ++x)
          CHECK(residual[i++] == doctest::Approx(-operator_at(problem, {x, y, z})).epsilon(1e-12));
    points += box.volume();
  }
  CHECK(points == problem.grid.cells.volume());
}

}  // namespace

TEST_CASE("poisson: blocks of any shape have the residual of the whole") {
  Problem problem;
  problem.wall = 0.75;
  for (const bool plane : {true, false})
    for (const std::array<bool, 3> periodic :
         {std::array{false, false, false}, std::array{true, false, true}, std::array{true, true, true}})
      for (const Index3 block : {Index3{7, 5, 4}, Index3{3, 2, 3}, Index3{1, 5, 1}, Index3{6, 1, 4}}) {
        auto& grid = problem.grid;
        grid = {{7, 5, plane ? 1 : 4}, plane ? 2 : 3, {0.5, 0.25, 0.125}, periodic};
        problem.block = {block.x, block.y, plane ? 1 : block.z};
        check_blocks(problem);
      }
}

TEST_CASE("poisson: usual blocks are large where there are enough of them") {
  CHECK(usual_block({40, 30, 1}, 2) == Index3{40, 30, 1});
  CHECK(usual_block({1023, 767, 1}, 2) == Index3{128, 128, 1});
  CHECK(usual_block({1024, 1024, 1}, 2) == Index3{256, 128, 1});
  CHECK(usual_block({2048, 2048, 1}, 2) == Index3{512, 256, 1});
  CHECK(usual_block({20000, 100, 1}, 2) == Index3{512, 100, 1});
  CHECK(usual_block({48, 48, 48}, 3) == Index3{32, 32, 32});
  CHECK(usual_block({129, 128, 128}, 3) == Index3{64, 32, 32});
  CHECK(usual_block({256, 256, 256}, 3) == Index3{64, 64, 32});
}

TEST_CASE("poisson: every point belongs to a rank, whole blocks together") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const BlockGrid blocks({20, 9, 5}, {6, 4, 5}, ranks);
    std::int64_t points = 0;
    for (int rank = 0; rank < ranks; ++rank) points += blocks.own_box(rank).volume();
    CHECK(points == blocks.points().volume());
    for (int number = 0; number < blocks.blocks(); ++number) {
      int owners = 0;
      for (int rank = 0; rank < ranks; ++rank)
        owners += intersect(blocks.own_box(rank), blocks.box(number)) == blocks.box(number) ? 1 : 0;
      CHECK(owners == 1);
    }
  }
}

TEST_CASE("poisson: the right-hand side of a formula is that of its solution") {
  for (const char* name : {"sines", "smooth"})
    for (const bool periodic : {false, true}) {
      Grid grid{{100, 80, 90}, 3, {0.01, 0.03, 0.02}, {periodic, periodic, false}};
      const auto formula = find_formula(name, grid);
      const auto at = [&](const Fill& fill, Index3 p) {
        double value = 0;
        fill({p, {p.x + 1, p.y + 1, p.z + 1}}, {&value, 1});
        return value;
      };
      const Index3 p{33, 41, 17};
      double sum = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const double h = grid.spacing_m[static_cast<std::size_t>(axis)];
        for (const std::int64_t by : {-1, 1}) {
          Index3 q = p;
          (axis == 0 ? q.x : axis == 1 ? q.y : q.z) += by;
          sum += (at(formula.solution, p) - at(formula.solution, q)) / (h * h);
        }
      }
      CHECK(sum == doctest::Approx(at(formula.rhs, p)).epsilon(3e-3));
    }
  CHECK(!find_formula("other", {}).rhs);
}

TEST_CASE("point 0 lies a cell inside sides that hold values, and at 0 of periodic ones") {
  Grid grid{
      .cells = {8, 4, 2}, .dimensions = 3, .spacing_m = {0.5, 0.25, 2}, .periodic = {false, true, false}};
  CHECK(grid.origin_m() == std::array{0.5, 0.0, 2.0});
  CHECK(grid.origin_m()[0] == grid.place(0, 0) * grid.length_m(0));
  grid.dimensions = 2;
  CHECK(grid.origin_m() == std::array{0.5, 0.0, 0.0});
}

}  // namespace tailrace::test
