// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "linked_cells.hpp"

namespace tailrace::molecules {

/// Describes where a kernel looks for partners: rows of a rank's own molecules and of the copies around them.
struct Neighbourhood {
  const ForceField& field;
  Columns& own;
  const Columns& copies;
  const LinkedCells& own_rows;
  const LinkedCells& copy_rows;  ///< refers to the same heights, by `layers` rows more on each side
  std::array<int, 2> layers;     ///< rows along y and z that the cutoff may reach
};

/// Molecules of one row that are treated together.
struct Block {
  int y, z;  ///< the row
  LinkedCells::Run own;
  std::array<double, 3> low, high;  ///< corners of the box that they fill
};

inline Block block_of(const Columns& own, int y, int z, const LinkedCells::Run& run) noexcept {
  Block block{y, z, run, {}, {}};
  for (std::size_t d = 0; d < 3; ++d) {
    block.low[d] = block.high[d] = own.position[d][run.begin];
    for (std::int64_t i = run.begin + 1; i < run.end; ++i) {
      block.low[d] = std::min(block.low[d], own.position[d][i]);
      block.high[d] = std::max(block.high[d], own.position[d][i]);
    }
  }
  return block;
}

/// Half of the width that a sphere around the block has in a row, squared; not positive where it misses the
/// row.
inline double squared_reach(const LinkedCells& rows, const Block& block, int y, int z,
                            double squared_cutoff) noexcept {
  // A trifle more, because borders of rows are rounded.
  double rest = squared_cutoff * (1 + 1e-12);
  const std::array<int, 2> place{y, z};
  for (int axis = 0; axis < 2; ++axis) {
    const double gap = std::max(rows.low_of(axis, place[axis]) - block.high[axis + 1],
                                block.low[axis + 1] - rows.low_of(axis, place[axis] + 1));
    if (gap > 0) rest -= gap * gap;
  }
  return rest;
}

/// Describes what a run of partners is.
enum class Partners { same_row, own, copies };

/// Calls `visit(Partners, run)` for the runs that hold all partners of a block: in its own row those behind
/// its first molecule, in rows of own molecules those further on, so that each pair comes up once; and all
/// copies.
template <class Visit>
inline void for_each_run(const Neighbourhood& n, const Block& block, Visit&& visit) {
  const double cutoff = n.field.model().cutoff, squared = cutoff * cutoff;
  const auto look = [&](const LinkedCells& rows, int y, int z, Partners partners) {
    if (y < 0 || z < 0 || y >= rows.rows_y() || z >= rows.rows_z()) return;
    const double rest = squared_reach(rows, block, y, z, squared);
    if (!(rest > 0)) return;
    const double reach = std::sqrt(rest);
    const LinkedCells::Run run = rows.run(y, z, block.low[0] - reach, block.high[0] + reach);
    if (run.begin < run.end) visit(partners, run);
  };
  const LinkedCells::Run rest = n.own_rows.run(block.y, block.z, block.low[0], block.high[0] + cutoff);
  visit(Partners::same_row, LinkedCells::Run{block.own.begin + 1, rest.end, rest.row_end});
  for (int dy = 1; dy <= n.layers[0]; ++dy) look(n.own_rows, block.y + dy, block.z, Partners::own);
  for (int dz = 1; dz <= n.layers[1]; ++dz)
    for (int dy = -n.layers[0]; dy <= n.layers[0]; ++dy)
      look(n.own_rows, block.y + dy, block.z + dz, Partners::own);
  const Region& region = n.own_rows.region();
  const auto inside = [](int k, int rows, int layers) { return k >= layers && k + layers < rows; };
  if (inside(block.y, n.own_rows.rows_y(), n.layers[0]) &&
      inside(block.z, n.own_rows.rows_z(), n.layers[1]) && block.low[0] - region.low[0] > cutoff &&
      region.high[0] - block.high[0] > cutoff)
    return;
  for (int dz = 0; dz <= 2 * n.layers[1]; ++dz)
    for (int dy = 0; dy <= 2 * n.layers[0]; ++dy)
      look(n.copy_rows, block.y + dy, block.z + dz, Partners::copies);
}

/// Sums of one row, in its pairs' own order.
struct RowSums {
  double u6_lj = 0, u_el = 0, u_rf = 0, virial = 0;
  std::int64_t pairs = 0;
};

/// Calls `treat(y, z)` for each row, on all threads: never at the same time for rows whose molecules' forces
/// the other would write, and in an order that is the same for each row's forces whatever the number of
/// threads.
template <class Treat>
void for_each_row(const Neighbourhood& n, Treat&& treat) {
  const int wide = 2 * n.layers[0] + 1, deep = n.layers[1] + 1;
  const int rows_y = n.own_rows.rows_y(), rows_z = n.own_rows.rows_z();
#pragma omp parallel
  for (int phase = 0; phase < wide * deep; ++phase) {
    const int y0 = phase % wide, z0 = phase / wide;
    const int count_y = (rows_y - y0 + wide - 1) / wide, count_z = (rows_z - z0 + deep - 1) / deep;
#pragma omp for schedule(dynamic)
    for (int k = 0; k < count_y * count_z; ++k) treat(y0 + k % count_y * wide, z0 + k / count_y * deep);
  }
}

}  // namespace tailrace::molecules
