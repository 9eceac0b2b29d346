// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "region.hpp"

namespace tailrace::molecules {

/// The index of a cell, or a number of cells: x, y, z.
using Cell3 = std::array<std::int64_t, 3>;

/// Whole cells of a grid: `low` is inside, `high` is not.
struct CellBox {
  Cell3 low{}, high{};

  [[nodiscard]] constexpr std::int64_t extent(std::size_t axis) const noexcept {
    return high[axis] - low[axis];
  }
  [[nodiscard]] constexpr std::int64_t volume() const noexcept { return extent(0) * extent(1) * extent(2); }
  friend constexpr bool operator==(const CellBox&, const CellBox&) = default;
};

/// A box in equal cells. Borders are numbers that everybody computes alike, and the last one is the length of
/// the box: whatever is made of whole cells fills the box without a gap, and a position has one cell.
struct CellGrid {
  Vec3 box{};
  Cell3 cells{1, 1, 1};

  /// Returns where cell `i` of an axis begins; cell i - 1 ends there.
  [[nodiscard]] double border(std::size_t axis, std::int64_t i) const noexcept {
    if (i >= cells[axis]) return box[axis];
    return box[axis] * static_cast<double>(i) / static_cast<double>(cells[axis]);
  }
  /// The cell of an axis that has 0 <= x < length.
  [[nodiscard]] std::int64_t cell_of(std::size_t axis, double x) const noexcept;
  /// The cell of a position that the box contains.
  [[nodiscard]] Cell3 cell_of(const Vec3& r) const noexcept {
    return {cell_of(0, r[0]), cell_of(1, r[1]), cell_of(2, r[2])};
  }
  /// The cells that a region meets; none if it lies outside of the box.
  [[nodiscard]] CellBox cells_of(const Region& region) const noexcept;
  [[nodiscard]] Region region(const CellBox& cells) const noexcept;
  [[nodiscard]] CellBox whole() const noexcept { return {{}, cells}; }
  [[nodiscard]] std::int64_t volume() const noexcept { return cells[0] * cells[1] * cells[2]; }
  /// Number of a cell, x fastest.
  [[nodiscard]] std::int64_t index(const Cell3& cell) const noexcept {
    return (cell[2] * cells[1] + cell[1]) * cells[0] + cell[0];
  }

  friend bool operator==(const CellGrid&, const CellGrid&) = default;
};

}  // namespace tailrace::molecules
