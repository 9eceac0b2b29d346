#include "halo.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tailrace::seismic {

namespace {

/// The directions to the faces and edges of a box, each -1, 0 or 1 along x, y, z.
std::vector<Index3> directions(bool edges) {
  std::vector<Index3> list;
  for (std::int64_t z = -1; z <= 1; ++z)
    for (std::int64_t y = -1; y <= 1; ++y)
      for (std::int64_t x = -1; x <= 1; ++x) {
        const auto axes = x * x + y * y + z * z;
        if (axes == 1 || (edges && axes == 2)) list.push_back({x, y, z});
      }
  return list;
}

Range beside(Range range, std::int64_t direction) noexcept {
  if (direction < 0) return {range.begin - reach, range.begin};
  if (direction > 0) return {range.end, range.end + reach};
  return range;
}

/// The points next to a box in a direction.
Box beside(const Box& box, Index3 direction) noexcept {
  const Range x = beside(box.x(), direction.x), y = beside(box.y(), direction.y),
              z = beside(box.z(), direction.z);
  return {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
}

Box grown(const Box& box) noexcept {
  return {{box.lo.x - reach, box.lo.y - reach, box.lo.z - reach},
          {box.hi.x + reach, box.hi.y + reach, box.hi.z + reach}};
}

constexpr int most_directions = 32;  // of one field, for tags

}  // namespace

layout::Decomposition choose_bricks(Index3 extents, int ranks) {
  constexpr double cost_across_x = 4;  // of a value in a face across x, relative to other faces
  layout::RankBricks best{.x = 1, .y = 1, .z = ranks};
  double least = std::numeric_limits<double>::max();
  for (int z = ranks; z >= 1; --z) {
    if (ranks % z != 0) continue;
    for (int y = ranks / z; y >= 1; --y) {
      if (ranks / z % y != 0) continue;
      const int x = ranks / z / y;
      const auto nx = static_cast<double>(extents.x), ny = static_cast<double>(extents.y),
                 nz = static_cast<double>(extents.z);
      const double cuts = (x - 1) * ny * nz * cost_across_x + (y - 1) * nx * nz + (z - 1) * nx * ny;
      const bool idle = x > extents.x || y > extents.y || z > extents.z;
      const double cost = idle ? std::numeric_limits<double>::max() : cuts;
      if (cost < least) best = {.x = x, .y = y, .z = z}, least = cost;
    }
  }
  return layout::Decomposition::bricks(extents, best);
}

Halo::Halo(mpi::CommView comm, const layout::Decomposition& decomposition, const ArrayLayout& layout,
           std::size_t value_bytes, bool edges)
    : comm_(mpi::Comm::duplicate(comm)),
      layout_(layout),
      value_bytes_(value_bytes),
      own_(decomposition.box(comm.rank())) {
  find_messages(decomposition, edges);
  divide(decomposition);
}

Halo::~Halo() {
  mpi::abandon(receiving_, sending_);
}

/// The message with the points of `block`, which one of the two sides has in its halo in this direction.
Halo::Message Halo::message(const Box& block, int peer, int direction) const {
  const Index3 n = block.extents();
  const auto bytes = static_cast<std::int64_t>(value_bytes_);
  const Index3 first{block.lo.x - own_.lo.x, block.lo.y - own_.lo.y, block.lo.z - own_.lo.z};
  return {.offset_bytes = bytes * layout_.at(first),
          .type = mpi::BlockType({.row_bytes = bytes * n.x,
                                  .rows = n.y,
                                  .planes = n.z,
                                  .row_distance_bytes = bytes * layout_.stride_y,
                                  .plane_distance_bytes = bytes * layout_.stride_z}),
          .peer = peer,
          .tag = direction};
}

void Halo::find_messages(const layout::Decomposition& decomposition, bool edges) {
  if (own_.empty()) return;
  const auto all = directions(edges);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Box wanted = beside(own_, all[i]);
    for (const int peer : decomposition.ranks_meeting(wanted))
      receives_.push_back(message(intersect(wanted, decomposition.box(peer)), peer, static_cast<int>(i)));
  }
  for (const int peer : decomposition.ranks_meeting(grown(own_))) {
    if (peer == comm_.view().rank()) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Box given = intersect(beside(decomposition.box(peer), all[i]), own_);
      if (!given.empty()) sends_.push_back(message(given, peer, static_cast<int>(i)));
    }
  }
}

/// Cuts the rank's box into what others need and the rest.
void Halo::divide(const layout::Decomposition& decomposition) {
  const Index3 n = own_.extents(), whole = decomposition.extents();
  const auto inner = [](std::int64_t points, bool below, bool above) -> Range {
    const std::int64_t begin = below ? std::min(reach, points) : 0;
    return {begin, std::max(begin, above ? points - reach : points)};
  };
  const Range x = inner(n.x, own_.lo.x > 0, own_.hi.x < whole.x),
              y = inner(n.y, own_.lo.y > 0, own_.hi.y < whole.y),
              z = inner(n.z, own_.lo.z > 0, own_.hi.z < whole.z);
  interior_ = {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
  const std::array shells{Box{{0, 0, 0}, {n.x, n.y, z.begin}},
                          Box{{0, 0, z.end}, {n.x, n.y, n.z}},
                          Box{{0, 0, z.begin}, {n.x, y.begin, z.end}},
                          Box{{0, y.end, z.begin}, {n.x, n.y, z.end}},
                          Box{{0, y.begin, z.begin}, {x.begin, y.end, z.end}},
                          Box{{x.end, y.begin, z.begin}, {n.x, y.end, z.end}}};
  for (const Box& shell : shells)
    if (!shell.empty()) shells_.push_back(shell);
}

void Halo::start(std::byte* field, int number) {
  for (const Message& one : receives_)
    receiving_.push_back(mpi::start_receive(comm_, field + one.offset_bytes, one.type.get(), one.peer,
                                            number * most_directions + one.tag));
  for (const Message& one : sends_)
    sending_.push_back(mpi::start_send(comm_, field + one.offset_bytes, one.type.get(), one.peer,
                                       number * most_directions + one.tag));
}

void Halo::poll() {
  mpi::test_all(receiving_);
  mpi::test_all(sending_);
}

void Halo::finish() {
  mpi::wait_all(receiving_);
  mpi::wait_all(sending_);
  receiving_.clear();
  sending_.clear();
}

}  // namespace tailrace::seismic
