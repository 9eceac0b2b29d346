// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "balancer.hpp"
#include "kd_tree.hpp"
#include "molecules_fixture.hpp"

/// Loads from numbers of molecules, and the k-d trees that share them.
namespace tailrace::molecules {

namespace {

std::vector<double> any_loads(fixture::Draw& draw, const CellGrid& grid) {
  std::vector<double> loads(static_cast<std::size_t>(grid.volume()));
  for (double& load : loads) load = fixture::uniform(draw, 0, 1);
  return loads;
}

std::vector<double> ones(int count) {
  return std::vector<double>(static_cast<std::size_t>(count), 1.0);
}

Decomposition divided(const LoadTable& table, int ranks, const KdOptions& options = {}) {
  return Decomposition::kd(table.grid(), plan_cuts(table, ranks, {}, options), ranks);
}

/// Returns what a rank with all molecules has counted.
RankCounts counted(const CellGrid& grid, const std::vector<Vec3>& positions) {
  CellCounter counter(grid, {{}, grid.box});
  for (const Vec3& r : positions) counter.add(r);
  return {.load = 0, .cells = counter.counts()};
}

}  // namespace

TEST_CASE("the load of a box of cells is the sum of theirs") {
  fixture::Draw draw(5);
  const CellGrid grid{.box = {1, 1, 1}, .cells = {4, 3, 5}};
  const auto loads = any_loads(draw, grid);
  const LoadTable table(grid, loads);
  for (int i = 0; i < 100; ++i) {
    CellBox box;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto any = [&] { return std::uniform_int_distribution<std::int64_t>(0, grid.cells[d])(draw); };
      const auto a = any(), b = any();
      box.low[d] = std::min(a, b), box.high[d] = std::max(a, b);
    }
    double sum = 0;
    for (auto z = box.low[2]; z < box.high[2]; ++z)
      for (auto y = box.low[1]; y < box.high[1]; ++y)
        for (auto x = box.low[0]; x < box.high[0]; ++x)
          sum += loads[static_cast<std::size_t>(grid.index({x, y, z}))];
    CHECK(table.load(box) == doctest::Approx(sum).epsilon(1e-12));
  }
}

TEST_CASE("equal loads are shared equally") {
  const CellGrid grid{.box = {12, 12, 12}, .cells = {12, 12, 12}};
  const LoadTable table(grid, std::vector<double>(1728, 2.5));
  for (const int ranks : {1, 2, 3, 4, 6, 8, 9, 16, 27, 64})
    CHECK(predicted_imbalance(table, divided(table, ranks), ones(ranks)) == doctest::Approx(1));
  for (const int ranks : {5, 7, 11, 13})
    CHECK(predicted_imbalance(table, divided(table, ranks), ones(ranks)) < 1.3);
  // Less than 18 cells for each rank: one has 2 x 3 x 4.
  CHECK(predicted_imbalance(table, divided(table, 97), ones(97)) < 24 / 17.8);
}

TEST_CASE("three ranks in a row are divided as well as they can be") {
  fixture::Draw draw(9);
  for (int i = 0; i < 50; ++i) {
    const CellGrid grid{.box = {9, 1, 1}, .cells = {9, 1, 1}};
    const LoadTable table(grid, any_loads(draw, grid));
    const auto square = [&](std::int64_t from, std::int64_t to) {
      const double excess = 3 * table.load({{from, 0, 0}, {to, 1, 1}}) / table.load(grid.whole()) - 1;
      return excess * excess;
    };
    const auto cost = [&](std::int64_t a, std::int64_t b) {
      return square(0, a) + square(a, b) + square(b, 9);
    };
    double least = 1e9;
    for (std::int64_t a = 1; a < 9; ++a)
      for (std::int64_t b = a + 1; b < 9; ++b) least = std::min(least, cost(a, b));
    const auto found = divided(table, 3, {.min_cells = 1});
    const auto at = [&](int rank) { return std::lround(found.region(rank).high[0]); };
    // Loaded cells beside the cuts count a little, too.
    CHECK(cost(at(0), at(1)) <= least + 0.2);
  }
}

TEST_CASE("trying several cuts is worth it") {
  fixture::Draw draw(11);
  double greedy = 0, searched = 0;
  for (int i = 0; i < 40; ++i) {
    const CellGrid grid{.box = {8, 8, 8}, .cells = {8, 8, 8}};
    auto loads = any_loads(draw, grid);
    for (double& load : loads) load = std::pow(load, 8);
    const LoadTable table(grid, loads);
    greedy += predicted_imbalance(table, divided(table, 7, {.full_search_ranks = 1}), ones(7));
    searched += predicted_imbalance(table, divided(table, 7), ones(7));
  }
  MESSAGE("imbalance of 7 ranks: greedy " << greedy / 40 << ", searched " << searched / 40);
  CHECK(searched < greedy);
}

TEST_CASE("fast ranks get more") {
  const CellGrid grid{.box = {16, 4, 4}, .cells = {16, 4, 4}};
  const LoadTable table(grid, std::vector<double>(256, 1.0));
  const std::array speeds{1.0, 3.0, 2.0, 2.0};
  const auto found = Decomposition::kd(grid, plan_cuts(table, 4, speeds, {}), 4);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(table.load(grid.cells_of(found.region(rank))) ==
          doctest::Approx(32 * speeds[static_cast<std::size_t>(rank)]));
}

TEST_CASE("regions are as thick as asked while cells suffice, and cut along the longest axis if asked") {
  fixture::Draw draw(2);
  const CellGrid grid{.box = {12, 10, 8}, .cells = {12, 10, 8}};
  for (int ranks = 2; ranks <= 60; ++ranks) {
    const LoadTable table(grid, any_loads(draw, grid));
    const auto found = divided(table, ranks, {.min_cells = 2});
    for (int rank = 0; rank < ranks; ++rank)
      for (const double width : found.region(rank).widths()) CHECK(width >= 2);
  }
  const auto halves = divided(LoadTable(grid, any_loads(draw, grid)), 2, {.axes = CutAxes::longest});
  CHECK(halves.region(0).widths()[0] < 12);
}

TEST_CASE("the estimate of work meets the pairs that there are") {
  fixture::Draw draw(4);
  const Vec3 box{24, 21, 18};
  const double cutoff = 2.5;
  const auto positions = fixture::any_positions(draw, {{}, box}, 6000);
  const auto counts = fixture::neighbours(positions, box, cutoff);
  const auto pairs = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const auto estimate = [&](const CellGrid& grid) {
    std::vector<std::int64_t> molecules(static_cast<std::size_t>(grid.volume()));
    for (const Vec3& r : positions) ++molecules[static_cast<std::size_t>(grid.index(grid.cell_of(r)))];
    const auto work = work_per_molecule(grid, molecules, cutoff);
    double sum = 0;
    for (std::size_t cell = 0; cell < work.size(); ++cell)
      sum += static_cast<double>(molecules[cell]) * (work[cell] - 20);
    return sum;
  };
  for (const Cell3& cells : {Cell3{19, 16, 14}, {9, 8, 7}, {4, 3, 3}, {1, 2, 1}})
    CHECK(estimate({box, cells}) == doctest::Approx(pairs).epsilon(0.05));
}

TEST_CASE("the grid of work is half a cutoff wide, and bounded") {
  CHECK(work_grid({25, 50, 26}, 2.5, 4).cells == Cell3{20, 40, 20});
  CHECK(work_grid({1, 2, 26}, 2.5, 4).cells == Cell3{1, 1, 20});
  const auto large = work_grid({1e4, 1e4, 1e4}, 2.5, 4);
  CHECK(large.volume() <= 1 << 18);
  CHECK(large.volume() >= 1 << 17);
}

TEST_CASE("an off-centre droplet is shared by counted work") {
  const Vec3 box{48, 48, 48};
  const double cutoff = 2.5;
  fixture::Draw draw(8);
  const auto positions = fixture::droplet(draw, box, {14, 13, 16}, 12);
  const auto neighbours = fixture::neighbours(positions, box, cutoff);
  for (const int ranks : {4, 7}) {
    const auto grid = work_grid(box, cutoff, ranks);
    const std::array counts{counted(grid, positions)};
    const Loads loads = estimate_loads(grid, cutoff, counts, LoadMeasure::counted);
    const double regular = fixture::pair_imbalance(Decomposition::regular(box, ranks), positions, neighbours),
                 tree = fixture::pair_imbalance(divided(LoadTable(grid, loads.cells), ranks), positions,
                                                neighbours);
    MESSAGE(ranks << " ranks: imbalance " << regular << " regular, " << tree << " k-d");
    CHECK(regular > 2);
    CHECK(tree < 1.15);
  }
}

TEST_CASE("measured seconds move the load, measured speeds the share") {
  const CellGrid grid{.box = {20, 5, 5}, .cells = {16, 4, 4}};
  fixture::Draw draw(6);
  std::vector<RankCounts> ranks;
  for (const double begin : {0.0, 10.0}) {
    ranks.push_back(counted(grid, fixture::any_positions(draw, {{begin, 0, 0}, {begin + 10, 5, 5}}, 20000)));
    ranks.back().load = begin > 0 ? 3 : 1;  // the second rank takes three times as long
  }
  const auto middle = [&](LoadMeasure measure) {
    const Loads loads = estimate_loads(grid, 1.2, ranks, measure);
    const LoadTable table(grid, loads.cells);
    return Decomposition::kd(grid, plan_cuts(table, 2, loads.speeds, {}), 2).region(0).high[0];
  };
  CHECK(middle(LoadMeasure::counted) == 10);
  CHECK(middle(LoadMeasure::seconds) == doctest::Approx(40.0 / 3).epsilon(0.05));
  CHECK(middle(LoadMeasure::speeds) == 15);
}

}  // namespace tailrace::molecules
