// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "tailrace/box.hpp"

/// Who owns which part of a box of grid points. Nothing here communicates, and nothing grows with the number
/// of ranks.
namespace tailrace::layout {

/// Part `index` of `n` items in `parts` parts: the first `n % parts` parts get one item more; parts may be
/// empty.
Range split(std::int64_t n, int parts, int index);
/// The part of `split(n, parts, ...)` that holds `item`, for 0 <= item < n.
int part_of(std::int64_t n, int parts, std::int64_t item);

enum class Axis { x, y, z };
/// The range of a box along an axis.
Range range_of(const Box& box, Axis axis) noexcept;
/// `box` with its range along `axis` replaced.
Box with_range(Box box, Axis axis, Range range) noexcept;

/// A grid of ranks for pencils.
struct RankGrid {
  int rows = 1, columns = 1;
  friend bool operator==(const RankGrid&, const RankGrid&) = default;
};
/// The grid of exactly `ranks` ranks that is nearest to a square, rows >= columns; a prime count gives one
/// column.
RankGrid near_square_grid(int ranks);

/// A grid of ranks for bricks: how many along each axis.
struct RankBricks {
  int x = 1, y = 1, z = 1;
  friend bool operator==(const RankBricks&, const RankBricks&) = default;
};

/// The bricks, exactly as many as `ranks`, with the least to exchange between neighbours: rows along x are
/// cut last, because the points of a cut across them lie apart in memory.
RankBricks min_cut_bricks(Index3 extents, int ranks);

/// A box of points, (0, 0, 0) to `extents`, shared out among ranks so that each point has one owner. Ranks
/// may be empty.
class Decomposition {
 public:
  /// Splits one axis.
  static Decomposition slab(Index3 extents, Axis axis, int ranks);
  /// Splits the two axes other than `whole_axis`: the slower of them in memory (z before y before x) into
  /// rows, the other into columns. Rank = row * columns + column, so that a change between the pencils along
  /// x and y stays within a row, and one between y and z within a column.
  static Decomposition pencil(Index3 extents, Axis whole_axis, RankGrid grid);
  static Decomposition pencil(Index3 extents, Axis whole_axis, int rows, int columns);
  /// Splits all three axes. Rank = (z * bricks.y + y) * bricks.x + x.
  static Decomposition bricks(Index3 extents, RankBricks bricks);
  /// One rank owns all.
  static Decomposition all_on(Index3 extents, int ranks, int owner);

  /// The part of one rank, possibly empty.
  [[nodiscard]] Box box(int rank) const;
  [[nodiscard]] int ranks() const noexcept;
  [[nodiscard]] Index3 extents() const noexcept { return extents_; }
  /// The ranks that own points of `region`, ascending. Costs no more than their number.
  [[nodiscard]] std::vector<int> ranks_meeting(const Box& region) const;

  friend bool operator==(const Decomposition&, const Decomposition&) = default;

 private:
  Decomposition(Index3 extents, RankBricks parts);

  Index3 extents_;
  RankBricks parts_;
  int single_owner_ = -1, single_ranks_ = 0;  // of `all_on`
};

/// Describes where the points of a rank's box lie in its memory: x contiguous, rows and planes at these
/// distances in elements.
struct LocalLayout {
  std::int64_t stride_y = 0, stride_z = 0;

  /// Without gaps.
  static constexpr LocalLayout dense(const Box& box) noexcept {
    return {box.x().size(), box.x().size() * box.y().size()};
  }
  friend bool operator==(const LocalLayout&, const LocalLayout&) = default;
};

}  // namespace tailrace::layout
