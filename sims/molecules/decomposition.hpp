// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cell_grid.hpp"

namespace tailrace::molecules {

/// A plane that divides cells, and the ranks that share them, in two.
struct Cut {
  std::size_t axis = 0;
  std::int64_t plane = 0;  ///< the first cell above it
  int low_ranks = 0;       ///< as many ranks, the first ones, are below it
};

/// Describes which rank owns which cuboid of a periodic box; the same on all ranks. The regions fill the box
/// once, bit for bit. Ranks number along x first.
class Decomposition {
 public:
  /// Equal cuboids. Without `grid`, in the way with the least area. Errors (input): a grid that
  /// is not of so many ranks.
  static Decomposition regular(const Vec3& box, int ranks, std::optional<std::array<int, 3>> grid = {});
  /// Whole cells of a grid, divided by a tree of cuts in depth-first order: a cut, those below it, those
  /// above it. There is one region more than cuts; further ranks own nothing. Memory: 8 bytes per rank.
  static Decomposition kd(const CellGrid& cells, std::span<const Cut> cuts, int ranks);

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] const Vec3& box() const noexcept { return grid_.box; }
  /// Returns where a rank's molecules are; empty if it owns nothing. Cost: log(ranks).
  [[nodiscard]] Region region(int rank) const;
  /// The rank whose region contains `r`; -1 outside of the box, and where a coordinate is no number.
  [[nodiscard]] int owner(const Vec3& r) const noexcept;
  /// The ranks whose regions meet a region, ascending; what is outside of the box is left out.
  [[nodiscard]] std::vector<int> ranks_meeting(const Region& region) const;

  /// Returns what it is made of, for a checkpoint: 5 numbers and one per cut.
  [[nodiscard]] std::vector<std::int64_t> numbers() const;
  /// The same decomposition again. Errors (input): these are not the numbers of one.
  static Decomposition restored(const Vec3& box, std::span<const std::int64_t> numbers);

  friend bool operator==(const Decomposition&, const Decomposition&) = default;

 private:
  /// Ranks [first, first + ranks), whose cells are `cells`, divided by the cuts from `cut` on.
  struct Branch {
    CellBox cells;
    int first = 0, ranks = 0;
    std::size_t cut = 0;
  };
  Decomposition(const CellGrid& grid, int ranks, bool tree) : grid_(grid), ranks_(ranks), tree_(tree) {}
  [[nodiscard]] Branch root() const noexcept;
  [[nodiscard]] std::array<Branch, 2> divided(const Branch& branch) const noexcept;
  void check_cuts() const;

  CellGrid grid_;  ///< refers to a regular one, a cell for each rank
  int ranks_ = 0;
  bool tree_ = false;
  std::vector<std::int64_t> cuts_;  ///< axis, plane and ranks in one number
};

}  // namespace tailrace::molecules
