// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "balancer.hpp"
#include "decomposition.hpp"
#include "kd_tree.hpp"
#include "molecule.hpp"

/// Decompositions and molecules drawn by number, the same on every rank.
namespace tailrace::molecules::fixture {

using Draw = std::mt19937_64;

inline double uniform(Draw& draw, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(draw);
}

/// A k-d tree for loads of which a few cells have most.
inline Decomposition uneven_tree(Draw& draw, const Vec3& box, int ranks) {
  const auto cells = [&] { return static_cast<std::int64_t>(uniform(draw, 1, 14)); };
  const CellGrid grid{.box = box, .cells = {cells(), cells(), cells()}};
  std::vector<double> loads(static_cast<std::size_t>(grid.volume()));
  for (double& load : loads) load = std::pow(uniform(draw, 0, 1), 6);
  const KdOptions options{.min_cells = uniform(draw, 0, 1) < 0.5 ? 1 : 2,
                          .axes = uniform(draw, 0, 1) < 0.5 ? CutAxes::any : CutAxes::longest,
                          .full_search_ranks = uniform(draw, 0, 1) < 0.5 ? 1 : 8};
  return Decomposition::kd(grid, plan_cuts(LoadTable(grid, loads), ranks, {}, options), ranks);
}

inline Vec3 any_box(Draw& draw) {
  return {uniform(draw, 3, 30), uniform(draw, 3, 30), uniform(draw, 3, 30)};
}

inline Decomposition any_decomposition(Draw& draw, const Vec3& box, int ranks) {
  return uniform(draw, 0, 1) < 0.3 ? Decomposition::regular(box, ranks) : uneven_tree(draw, box, ranks);
}

inline Vec3 any_position(Draw& draw, const Region& region) {
  Vec3 r{};
  for (std::size_t d = 0; d < 3; ++d) {
    r[d] = uniform(draw, region.low[d], region.high[d]);
    if (r[d] >= region.high[d]) r[d] = region.low[d];
  }
  return r;
}

inline std::vector<Vec3> any_positions(Draw& draw, const Region& region, int count) {
  std::vector<Vec3> list;
  for (int i = 0; i < count; ++i) list.push_back(any_position(draw, region));
  return list;
}

/// A dense ball around `centre` in thin vapour.
inline std::vector<Vec3> droplet(Draw& draw, const Vec3& box, const Vec3& centre, double radius) {
  constexpr double spacing = 1.1;  // of a cubic lattice
  std::vector<Vec3> list = any_positions(draw, {{}, box}, 500);
  const auto most = static_cast<int>(radius / spacing) + 1;
  for (int z = -most; z <= most; ++z)
    for (int y = -most; y <= most; ++y)
      for (int x = -most; x <= most; ++x) {
        const Vec3 from_centre{spacing * x, spacing * y, spacing * z};
        if (dot(from_centre, from_centre) >= radius * radius) continue;
        Vec3 r = centre + from_centre;
        for (std::size_t d = 0; d < 3; ++d) r[d] -= box[d] * std::floor(r[d] / box[d]);
        if (Region{{}, box}.contains(r)) list.push_back(r);
      }
  return list;
}

/// Returns how many molecules each has within the cutoff, images included.
inline std::vector<std::int64_t> neighbours(const std::vector<Vec3>& positions, const Vec3& box,
                                            double cutoff) {
  CellGrid grid{.box = box, .cells = {}};
  for (std::size_t d = 0; d < 3; ++d) grid.cells[d] = static_cast<std::int64_t>(box[d] / cutoff);
  std::vector<std::vector<std::size_t>> cells(static_cast<std::size_t>(grid.volume()));
  for (std::size_t i = 0; i < positions.size(); ++i)
    cells[static_cast<std::size_t>(grid.index(grid.cell_of(positions[i])))].push_back(i);
  const auto near = [&](const Vec3& a, const Vec3& b) {
    Vec3 distance = a - b;
    for (std::size_t d = 0; d < 3; ++d) distance[d] -= box[d] * std::round(distance[d] / box[d]);
    return dot(distance, distance) <= cutoff * cutoff;
  };
  std::vector<std::int64_t> counts(positions.size(), -1);  // without itself
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Cell3 cell = grid.cell_of(positions[i]);
    for (int k = 0; k < 27; ++k) {
      Cell3 other{cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1};
      for (std::size_t d = 0; d < 3; ++d) other[d] = (other[d] + grid.cells[d]) % grid.cells[d];
      for (const std::size_t j : cells[static_cast<std::size_t>(grid.index(other))])
        counts[i] += near(positions[i], positions[j]) ? 1 : 0;
    }
  }
  return counts;
}

/// Largest number of pairs of a rank over the mean; `counts`: what `neighbours` gave.
inline double pair_imbalance(const Decomposition& decomposition, const std::vector<Vec3>& positions,
                             const std::vector<std::int64_t>& counts) {
  std::vector<double> pairs(static_cast<std::size_t>(decomposition.ranks()));
  double sum = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    pairs[static_cast<std::size_t>(decomposition.owner(positions[i]))] += static_cast<double>(counts[i]);
    sum += static_cast<double>(counts[i]);
  }
  return *std::max_element(pairs.begin(), pairs.end()) / sum * decomposition.ranks();
}

}  // namespace tailrace::molecules::fixture
