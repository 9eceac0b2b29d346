// SPDX-License-Identifier: BSD-3-Clause
#include "load_table.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tailrace::molecules {

LoadTable::LoadTable(const CellGrid& grid, std::span<const double> loads) : grid_(grid) {
  TAILRACE_CHECK(static_cast<std::int64_t>(loads.size()) == grid.volume(), "a load for each cell");
  const auto [nx, ny, nz] = grid.cells;
  sums_.resize(static_cast<std::size_t>((nx + 1) * (ny + 1) * (nz + 1)));
  auto sum = sums_.begin() + (ny + 1) * (nx + 1);
  auto load = loads.begin();
  for (std::int64_t z = 0; z < nz; ++z) {
    sum += nx + 1;
    for (std::int64_t y = 0; y < ny; ++y) {
      double row = 0;
      ++sum;
      for (std::int64_t x = 0; x < nx; ++x, ++sum) {
        row += *load++;
        const auto back_y = sum - (nx + 1), back_z = sum - (nx + 1) * (ny + 1);
        *sum = row + *back_y + *back_z - *(back_z - (nx + 1));
      }
    }
  }
}

double LoadTable::below(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
  const auto [nx, ny, nz] = grid_.cells;
  return sums_[static_cast<std::size_t>((z * (ny + 1) + y) * (nx + 1) + x)];
}

double LoadTable::load(const CellBox& cells) const noexcept {
  const auto& [low, high] = cells;
  const auto layer = [&](std::int64_t z) {
    return below(high[0], high[1], z) - below(low[0], high[1], z) - below(high[0], low[1], z) +
           below(low[0], low[1], z);
  };
  // Differences of sums may fall short of nothing by a rounding error.
  return std::max(0.0, layer(high[2]) - layer(low[2]));
}

}  // namespace tailrace::molecules
