// SPDX-License-Identifier: BSD-3-Clause
#include "halo_plan.hpp"

#include <algorithm>
#include <array>

namespace tailrace::layout {

namespace {

/// The directions to the points around a box, each -1, 0 or 1 along x, y, z.
std::vector<Index3> directions_to(HaloPoints points) {
  std::vector<Index3> list;
  for (std::int64_t z = -1; z <= 1; ++z)
    for (std::int64_t y = -1; y <= 1; ++y)
      for (std::int64_t x = -1; x <= 1; ++x) {
        const auto axes = x * x + y * y + z * z;
        if (axes > 0 && axes <= static_cast<int>(points)) list.push_back({x, y, z});
      }
  return list;
}

Range beside(Range range, std::int64_t direction, std::int64_t width) noexcept {
  if (direction < 0) return {range.begin - width, range.begin};
  if (direction > 0) return {range.end, range.end + width};
  return range;
}

/// The points next to a box in a direction.
Box beside(const Box& box, Index3 direction, std::int64_t width) noexcept {
  const Range x = beside(box.x(), direction.x, width), y = beside(box.y(), direction.y, width),
              z = beside(box.z(), direction.z, width);
  return {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
}

Box grown(const Box& box, std::int64_t width) noexcept {
  return {{box.lo.x - width, box.lo.y - width, box.lo.z - width},
          {box.hi.x + width, box.hi.y + width, box.hi.z + width}};
}

/// Finds the points that each of the two sides has in its halo, direction by direction.
void plan_messages(const HaloConfig& config, const Box& own, int rank, HaloPlan& plan) {
  const auto& decomposition = config.decomposition;
  const auto directions = directions_to(config.points);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const Box wanted = beside(own, directions[i], config.width);
    for (const int peer : decomposition.ranks_meeting(wanted))
      plan.receives.push_back({intersect(wanted, decomposition.box(peer)), peer, static_cast<int>(i)});
  }
  for (const int peer : decomposition.ranks_meeting(grown(own, config.width))) {
    if (peer == rank) continue;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const Box given = intersect(beside(decomposition.box(peer), directions[i], config.width), own);
      if (!given.empty()) plan.sends.push_back({given, peer, static_cast<int>(i)});
    }
  }
}

/// Cuts the rank's box into what others need and the rest.
void divide_box(const HaloConfig& config, const Box& own, HaloPlan& plan) {
  const Index3 n = own.extents(), whole = config.decomposition.extents();
  const auto inner = [width = config.width](std::int64_t points, bool below, bool above) -> Range {
    const std::int64_t begin = below ? std::min(width, points) : 0;
    return {begin, std::max(begin, above ? points - width : points)};
  };
  const Range x = inner(n.x, own.lo.x > 0, own.hi.x < whole.x),
              y = inner(n.y, own.lo.y > 0, own.hi.y < whole.y),
              z = inner(n.z, own.lo.z > 0, own.hi.z < whole.z);
  plan.interior = {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
  const std::array shells{Box{{0, 0, 0}, {n.x, n.y, z.begin}},
                          Box{{0, 0, z.end}, {n.x, n.y, n.z}},
                          Box{{0, 0, z.begin}, {n.x, y.begin, z.end}},
                          Box{{0, y.end, z.begin}, {n.x, n.y, z.end}},
                          Box{{0, y.begin, z.begin}, {x.begin, y.end, z.end}},
                          Box{{x.end, y.begin, z.begin}, {n.x, y.end, z.end}}};
  for (const Box& shell : shells)
    if (!shell.empty()) plan.shells.push_back(shell);
}

}  // namespace

HaloPlan plan_halo(const HaloConfig& config, int rank) {
  HaloPlan plan;
  const Box own = config.decomposition.box(rank);
  if (own.empty()) return plan;
  plan_messages(config, own, rank, plan);
  divide_box(config, own, plan);
  return plan;
}

int halo_tag(int field, const HaloPart& part) noexcept {
  constexpr int max_directions = 32;
  return field * max_directions + part.direction;
}

}  // namespace tailrace::layout
