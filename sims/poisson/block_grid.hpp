// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/box.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::poisson {

/// The block that a domain is cut into where nothing is said: 128 x 128 or 32 x 32 x 32 points, in a large
/// domain more, up to 131,072, as long as there are 32 blocks. Larger blocks cost less beside their
/// arithmetic; the number of ranks has no say, so that results have the same bits on any. @local
Index3 usual_block(Index3 points, int dimensions);

/// The points of a domain in blocks of one shape, of which the last along an axis may be smaller, and the
/// ranks whose memory the blocks are in between two fragment programs: each rank has a brick of whole blocks,
/// or none. Blocks are numbered with x fastest.
class BlockGrid {
 public:
  BlockGrid(Index3 points, Index3 block, int ranks);

  [[nodiscard]] Index3 points() const noexcept { return points_; }
  /// Blocks along x, y, z.
  [[nodiscard]] Index3 counts() const noexcept { return counts_; }
  [[nodiscard]] int blocks() const noexcept { return static_cast<int>(counts_.volume()); }
  [[nodiscard]] int ranks() const noexcept { return bricks_.x * bricks_.y * bricks_.z; }
  [[nodiscard]] layout::RankBricks bricks() const noexcept { return bricks_; }
  /// The points of a block.
  [[nodiscard]] Box box(int number) const noexcept;
  /// The block beyond the low (0) or high (1) end of x, of y (2, 3) or of z (4, 5); beyond the last block is
  /// the first one.
  [[nodiscard]] int neighbour(int number, int side) const noexcept;
  /// The blocks of a rank, by their place among all.
  [[nodiscard]] Box own_blocks(int rank) const {
    return layout::Decomposition::bricks(counts_, bricks_).box(rank);
  }
  /// The points of a rank.
  [[nodiscard]] Box own_box(int rank) const;

 private:
  [[nodiscard]] Index3 place(int number) const noexcept {
    return {number % counts_.x, number / counts_.x % counts_.y, number / (counts_.x * counts_.y)};
  }

  Index3 points_, block_, counts_;
  layout::RankBricks bricks_;
};

}  // namespace tailrace::poisson
