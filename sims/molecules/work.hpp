// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cell_grid.hpp"

/// Describes how much work molecules are, from their numbers in cells.
namespace tailrace::molecules {

/// Cells in which work is counted: half a cutoff wide, or wider such that there are at most 2^18, or 64 per
/// rank.
CellGrid work_grid(const Vec3& box, double cutoff, int ranks);

/// Counts a rank's molecules in the cells that its region meets. Memory: 4 bytes for each of these.
class CellCounter {
 public:
  CellCounter(const CellGrid& grid, const Region& own);

  /// Counts a molecule of the region.
  void add(const Vec3& position) noexcept {
    const Cell3 cell = grid_.cell_of(position);
    ++counts_[own_index(cell)];
  }

  struct Count {
    std::uint32_t cell = 0;  ///< its number in the grid
    std::uint32_t molecules = 0;
  };
  /// The cells that are not empty, ascending.
  [[nodiscard]] std::vector<Count> counts() const;
  [[nodiscard]] const CellGrid& grid() const noexcept { return grid_; }

 private:
  [[nodiscard]] std::size_t own_index(const Cell3& cell) const noexcept {
    const CellBox& box = cells_;
    return static_cast<std::size_t>(((cell[2] - box.low[2]) * box.extent(1) + cell[1] - box.low[1]) *
                                        box.extent(0) +
                                    cell[0] - box.low[0]);
  }

  CellGrid grid_;
  CellBox cells_;
  std::vector<std::uint32_t> counts_;
};

/// Work of an empty cell: next to nothing, so that vapour is divided by volume, and cells of a large box do
/// not outweigh its molecules.
inline constexpr double work_of_cell = 0.01;

/// Work of a molecule in each cell, in pairs within the cutoff: those it has if molecules are spread evenly
/// within cells, and what else a step costs. `molecules`: in each cell, x fastest.
std::vector<double> work_per_molecule(const CellGrid& grid, std::span<const std::int64_t> molecules,
                                      double cutoff);

}  // namespace tailrace::molecules
