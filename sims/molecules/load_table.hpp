// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "cell_grid.hpp"

namespace tailrace::molecules {

/// The load of any box of cells at the cost of eight look-ups: sums over the cells below each corner.
class LoadTable {
 public:
  /// `loads`: one per cell, not negative, x fastest. Memory: 8 bytes per cell.
  LoadTable(const CellGrid& grid, std::span<const double> loads);

  [[nodiscard]] const CellGrid& grid() const noexcept { return grid_; }
  [[nodiscard]] double load(const CellBox& cells) const noexcept;

 private:
  [[nodiscard]] double below(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept;

  CellGrid grid_;
  std::vector<double> sums_;  ///< over the cells [0, corner), of (n + 1)^3 corners
};

}  // namespace tailrace::molecules
