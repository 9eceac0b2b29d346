// SPDX-License-Identifier: BSD-3-Clause
#include "block_grid.hpp"

#include <algorithm>
#include <vector>

namespace tailrace::poisson {

namespace {

std::int64_t count(std::int64_t points, std::int64_t block) {
  return (points + block - 1) / block;
}

Index3 block_counts(Index3 points, Index3 block) {
  return {count(points.x, block.x), count(points.y, block.y), count(points.z, block.z)};
}

Index3 least(Index3 a, Index3 b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}

Index3 scaled(Index3 blocks, Index3 block) {
  return {blocks.x * block.x, blocks.y * block.y, blocks.z * block.z};
}

}  // namespace

Index3 usual_block(Index3 points, int dimensions) {
  constexpr std::int64_t enough_blocks = 32;
  const auto shapes = dimensions == 2
                          ? std::vector<Index3>{{512, 256, 1}, {512, 128, 1}, {256, 128, 1}, {128, 128, 1}}
                          : std::vector<Index3>{{64, 64, 32}, {64, 32, 32}, {32, 32, 32}};
  const auto enough = std::ranges::find_if(
      shapes, [&](const Index3& shape) { return block_counts(points, shape).volume() >= enough_blocks; });
  return least(enough != shapes.end() ? *enough : shapes.back(), points);
}

BlockGrid::BlockGrid(Index3 points, Index3 block, int ranks)
    : points_(points),
      block_(block),
      counts_(block_counts(points, block)),
      bricks_(layout::min_cut_bricks(points, ranks)) {}

Box BlockGrid::box(int number) const noexcept {
  const Index3 lo = scaled(place(number), block_);
  return {lo, least({lo.x + block_.x, lo.y + block_.y, lo.z + block_.z}, points_)};
}

int BlockGrid::neighbour(int number, int side) const noexcept {
  Index3 at = place(number);
  const std::int64_t step = side % 2 == 0 ? -1 : 1;
  const auto move = [&](std::int64_t& i, std::int64_t n) { i = (i + step + n) % n; };
  if (side < 2)
    move(at.x, counts_.x);
  else if (side < 4)
    move(at.y, counts_.y);
  else
    move(at.z, counts_.z);
  return static_cast<int>((at.z * counts_.y + at.y) * counts_.x + at.x);
}

Box BlockGrid::own_box(int rank) const {
  const Box blocks = own_blocks(rank);
  if (blocks.empty()) return {};
  return {scaled(blocks.lo, block_), least(scaled(blocks.hi, block_), points_)};
}

}  // namespace tailrace::poisson
