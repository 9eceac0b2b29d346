// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/decomposition.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace tailrace::layout {

Range split(std::int64_t n, int parts, int index) {
  TAILRACE_CHECK(n >= 0 && parts > 0 && index >= 0 && index < parts, "no such part");
  const std::int64_t each = n / parts, longer = n % parts;
  const std::int64_t begin = each * index + std::min<std::int64_t>(index, longer);
  return {begin, begin + each + (index < longer ? 1 : 0)};
}

int part_of(std::int64_t n, int parts, std::int64_t item) {
  TAILRACE_CHECK(parts > 0 && item >= 0 && item < n, "no such item");
  const std::int64_t each = n / parts, longer = n % parts, in_longer = longer * (each + 1);
  return static_cast<int>(item < in_longer ? item / (each + 1) : longer + (item - in_longer) / each);
}

Range range_of(const Box& box, Axis axis) noexcept {
  switch (axis) {
    case Axis::x:
      return box.x();
    case Axis::y:
      return box.y();
    case Axis::z:
      break;
  }
  return box.z();
}

Box with_range(Box box, Axis axis, Range range) noexcept {
  switch (axis) {
    case Axis::x:
      box.lo.x = range.begin, box.hi.x = range.end;
      break;
    case Axis::y:
      box.lo.y = range.begin, box.hi.y = range.end;
      break;
    case Axis::z:
      box.lo.z = range.begin, box.hi.z = range.end;
      break;
  }
  return box;
}

namespace {
/// The values in the faces between bricks; the largest number if a rank would have none.
double cost_of_cuts(Index3 extents, RankBricks bricks) {
  if (bricks.x > extents.x || bricks.y > extents.y || bricks.z > extents.z)
    return std::numeric_limits<double>::max();
  constexpr double cost_across_x = 4;  // of a value in a face across x, relative to other faces
  const auto nx = static_cast<double>(extents.x), ny = static_cast<double>(extents.y),
             nz = static_cast<double>(extents.z);
  return (bricks.x - 1) * ny * nz * cost_across_x + (bricks.y - 1) * nx * nz + (bricks.z - 1) * nx * ny;
}
}  // namespace

RankGrid near_square_grid(int ranks) {
  TAILRACE_CHECK(ranks > 0, "a grid of ranks needs a rank");
  int columns = 1;
  for (int divisor = 1; divisor <= ranks / divisor; ++divisor)
    if (ranks % divisor == 0) columns = divisor;
  return {.rows = ranks / columns, .columns = columns};
}

RankBricks min_cut_bricks(Index3 extents, int ranks) {
  RankBricks best{.x = 1, .y = 1, .z = ranks};
  double least = std::numeric_limits<double>::max();
  for (int z = ranks; z >= 1; --z) {
    if (ranks % z != 0) continue;
    for (int y = ranks / z; y >= 1; --y) {
      if (ranks / z % y != 0) continue;
      const RankBricks bricks{.x = ranks / z / y, .y = y, .z = z};
      const double cost = cost_of_cuts(extents, bricks);
      if (cost < least) best = bricks, least = cost;
    }
  }
  return best;
}

Decomposition::Decomposition(Index3 extents, RankBricks parts) : extents_(extents), parts_(parts) {
  TAILRACE_CHECK(extents.x >= 0 && extents.y >= 0 && extents.z >= 0, "extents are not negative");
  TAILRACE_CHECK(parts.x > 0 && parts.y > 0 && parts.z > 0, "a decomposition needs a rank");
}

Decomposition Decomposition::slab(Index3 extents, Axis axis, int ranks) {
  switch (axis) {
    case Axis::x:
      return {extents, {.x = ranks}};
    case Axis::y:
      return {extents, {.y = ranks}};
    case Axis::z:
      break;
  }
  return {extents, {.z = ranks}};
}

Decomposition Decomposition::pencil(Index3 extents, Axis whole_axis, RankGrid grid) {
  switch (whole_axis) {
    case Axis::x:
      return {extents, {.y = grid.columns, .z = grid.rows}};
    case Axis::y:
      return {extents, {.x = grid.columns, .z = grid.rows}};
    case Axis::z:
      break;
  }
  return {extents, {.x = grid.columns, .y = grid.rows}};
}

Decomposition Decomposition::pencil(Index3 extents, Axis whole_axis, int rows, int columns) {
  return pencil(extents, whole_axis, RankGrid{.rows = rows, .columns = columns});
}

Decomposition Decomposition::bricks(Index3 extents, RankBricks bricks) {
  return {extents, bricks};
}

Decomposition Decomposition::all_on(Index3 extents, int ranks, int owner) {
  TAILRACE_CHECK(owner >= 0 && owner < ranks, "the owner is one of the ranks");
  Decomposition all(extents, {});
  all.single_owner_ = owner;
  all.single_ranks_ = ranks;
  return all;
}

int Decomposition::ranks() const noexcept {
  return single_owner_ >= 0 ? single_ranks_ : parts_.x * parts_.y * parts_.z;
}

Box Decomposition::box(int rank) const {
  TAILRACE_CHECK(rank >= 0 && rank < ranks(), "no such rank");
  if (single_owner_ >= 0) return rank == single_owner_ ? Box::whole(extents_) : Box{};
  const Range x = split(extents_.x, parts_.x, rank % parts_.x);
  const Range y = split(extents_.y, parts_.y, rank / parts_.x % parts_.y);
  const Range z = split(extents_.z, parts_.z, rank / parts_.x / parts_.y);
  return {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
}

std::vector<int> Decomposition::ranks_meeting(const Box& region) const {
  const Box inside = intersect(region, Box::whole(extents_));
  if (inside.empty()) return {};
  if (single_owner_ >= 0) return {single_owner_};
  std::vector<int> ranks;
  const int last_x = part_of(extents_.x, parts_.x, inside.hi.x - 1);
  const int last_y = part_of(extents_.y, parts_.y, inside.hi.y - 1);
  const int last_z = part_of(extents_.z, parts_.z, inside.hi.z - 1);
  for (int z = part_of(extents_.z, parts_.z, inside.lo.z); z <= last_z; ++z)
    for (int y = part_of(extents_.y, parts_.y, inside.lo.y); y <= last_y; ++y)
      for (int x = part_of(extents_.x, parts_.x, inside.lo.x); x <= last_x; ++x)
        ranks.push_back((z * parts_.y + y) * parts_.x + x);
  return ranks;
}

}  // namespace tailrace::layout
