// SPDX-License-Identifier: BSD-3-Clause
#include "file_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tailrace::molecules {

FileGrid::FileGrid(const Vec3& box, const std::array<std::int64_t, 3>& cells) : cells_(cells) {
  for (std::size_t d = 0; d < 3; ++d) {
    const auto n = static_cast<double>(cells[d]);
    edges_[d] = box[d] / n;
    while (std::floor(box[d] / edges_[d]) < n) edges_[d] = std::nextafter(edges_[d], 0);
  }
}

std::optional<FileGrid> FileGrid::with_edges(const Vec3& box, const Vec3& edges, std::int64_t count) {
  FileGrid grid;
  grid.edges_ = edges;
  for (std::size_t d = 0; d < 3; ++d) {
    const double quotient = box[d] / edges[d];
    // A quotient of 2.9999999 is meant to be 3.
    constexpr double tolerance = 1e-6, most = 1e15;
    if (!(quotient >= 1 - tolerance && quotient < most)) return {};
    grid.cells_[d] = static_cast<std::int64_t>(std::floor(quotient * (1 + tolerance)));
  }
  const double all = static_cast<double>(grid.cells_[0]) * static_cast<double>(grid.cells_[1]) *
                     static_cast<double>(grid.cells_[2]);
  if (all != static_cast<double>(count)) return {};
  return grid;
}

std::int64_t FileGrid::index(double coordinate, std::size_t axis) const noexcept {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(coordinate / edges_[axis])), 0,
                                  cells_[axis] - 1);
}

std::int64_t FileGrid::cell_of(const Vec3& point) const noexcept {
  return (index(point[2], 2) * cells_[1] + index(point[1], 1)) * cells_[0] + index(point[0], 0);
}

std::vector<CellRange> FileGrid::cells_of(const Region& region) const {
  std::vector<CellRange> ranges;
  if (region.empty()) return ranges;
  // The quotient grows with the coordinate, so that the cells of the first and of the last point in the
  // region enclose those of all others, rounding included.
  std::array<CellRange, 3> along;
  for (std::size_t d = 0; d < 3; ++d)
    along[d] = {index(region.low[d], d), index(std::nextafter(region.high[d], 0), d) + 1};
  for (std::int64_t z = along[2].begin; z < along[2].end; ++z)
    for (std::int64_t y = along[1].begin; y < along[1].end; ++y) {
      const std::int64_t row = (z * cells_[1] + y) * cells_[0];
      const CellRange range{row + along[0].begin, row + along[0].end};
      if (!ranges.empty() && ranges.back().end == range.begin)
        ranges.back().end = range.end;
      else
        ranges.push_back(range);
    }
  return ranges;
}

CellOrder sort_by_cell(const FileGrid& grid, const MoleculeList& list) {
  std::vector<std::int64_t> cell(static_cast<std::size_t>(list.count));
  for (std::int64_t i = 0; i < list.count; ++i)
    cell[static_cast<std::size_t>(i)] = grid.cell_of(list.molecule(i).position);
  CellOrder sorted;
  auto& order = sorted.order;
  order.resize(cell.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return cell[static_cast<std::size_t>(a)] < cell[static_cast<std::size_t>(b)];
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t at = cell[static_cast<std::size_t>(order[i])];
    if (sorted.cells.empty() || sorted.cells.back().cell != at)
      sorted.cells.push_back({at, static_cast<std::int64_t>(i), 0});
    ++sorted.cells.back().count;
  }
  return sorted;
}

}  // namespace tailrace::molecules
