// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "molecule_list.hpp"
#include "region.hpp"

namespace tailrace::molecules {

/// Cells behind each other: from `begin` on, up to but without `end`.
struct CellRange {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const CellRange&, const CellRange&) = default;
};

/// A box cut into equal cells, numbered x fastest, z slowest. One test says in which cell a point is: the
/// quotient of coordinate and edge, rounded down.
class FileGrid {
 public:
  /// With these numbers of cells. The edge is such that box / edge, rounded down, is that number.
  FileGrid(const Vec3& box, const std::array<std::int64_t, 3>& cells);
  /// With these edges; nothing if no division of the box into `count` cells belongs to them.
  static std::optional<FileGrid> with_edges(const Vec3& box, const Vec3& edges, std::int64_t count);

  [[nodiscard]] const Vec3& edges() const noexcept { return edges_; }
  [[nodiscard]] const std::array<std::int64_t, 3>& cells() const noexcept { return cells_; }
  [[nodiscard]] std::int64_t count() const noexcept { return cells_[0] * cells_[1] * cells_[2]; }
  /// The cell of a point in the box. @local
  [[nodiscard]] std::int64_t cell_of(const Vec3& point) const noexcept;
  /// All cells that may hold points of a region, as few ranges as there are. @local
  [[nodiscard]] std::vector<CellRange> cells_of(const Region& region) const;

 private:
  FileGrid() = default;
  [[nodiscard]] std::int64_t index(double coordinate, std::size_t axis) const noexcept;

  std::array<std::int64_t, 3> cells_{1, 1, 1};
  Vec3 edges_{};
};

/// The molecules of a rank sorted by cell; those of a cell stay in their order.
struct CellOrder {
  struct Cell {
    std::int64_t cell = 0, first = 0, count = 0;  ///< `first` in `order`
  };
  std::vector<std::int64_t> order;  ///< numbers in the list
  std::vector<Cell> cells;          ///< that have some, ascending
};
CellOrder sort_by_cell(const FileGrid& grid, const MoleculeList& list);

}  // namespace tailrace::molecules
