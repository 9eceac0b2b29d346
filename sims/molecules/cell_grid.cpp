// SPDX-License-Identifier: BSD-3-Clause
#include "cell_grid.hpp"

#include <algorithm>

namespace tailrace::molecules {

std::int64_t CellGrid::cell_of(std::size_t axis, double x) const noexcept {
  const auto guess = static_cast<std::int64_t>(x / box[axis] * static_cast<double>(cells[axis]));
  std::int64_t i = std::clamp<std::int64_t>(guess, 0, cells[axis] - 1);
  while (x < border(axis, i)) --i;
  while (x >= border(axis, i + 1)) ++i;
  return i;
}

CellBox CellGrid::cells_of(const Region& region) const noexcept {
  CellBox met;
  for (std::size_t d = 0; d < 3; ++d) {
    const double low = std::max(region.low[d], 0.0), high = std::min(region.high[d], box[d]);
    if (!(low < high)) return {};
    met.low[d] = cell_of(d, low);
    met.high[d] = high < box[d] ? cell_of(d, high) : cells[d];
    if (border(d, met.high[d]) < high) ++met.high[d];
  }
  return met;
}

Region CellGrid::region(const CellBox& of) const noexcept {
  Region region;
  for (std::size_t d = 0; d < 3; ++d) {
    region.low[d] = border(d, of.low[d]);
    region.high[d] = border(d, of.high[d]);
  }
  return region;
}

}  // namespace tailrace::molecules
