// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/halo.hpp"

#include <algorithm>
#include <array>

#include "array_block.hpp"
#include "base/check.hpp"
#include "mpi/message.hpp"

namespace tailrace::layout {

namespace {

constexpr int max_directions = 32;  // a tag holds the number of a field and a direction

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

}  // namespace

struct Halo::Message {
  std::int64_t offset_bytes = 0;  ///< refers to its first point from the low corner of the box
  mpi::BlockType type;
  int peer = 0, direction = 0;
};

Halo::Halo(mpi::CommView comm, const HaloConfig& config) : own_(config.decomposition.box(comm.rank())) {
  TAILRACE_CHECK(config.decomposition.ranks() == comm.size(), "a halo has the ranks of its communicator");
  TAILRACE_CHECK(config.element_bytes > 0 && config.width >= 0, "elements and halos have a size");
  comm_ = mpi::Comm::duplicate(comm);
  if (own_.empty()) return;
  plan_messages(config);
  divide_box(config);
}

Halo::~Halo() {
  mpi::abandon(receiving_, sending_);
}

/// Finds the points that each of the two sides has in its halo, direction by direction.
void Halo::plan_messages(const HaloConfig& config) {
  const auto& [decomposition, layout, element_bytes, width, points] = config;
  const ArrayBlock array{own_, layout, static_cast<std::int64_t>(element_bytes)};
  const auto message = [&](const Box& block, int peer, std::size_t direction) -> Message {
    return {array.offset_bytes(block.lo), mpi::BlockType(array.shape(block.extents())), peer,
            static_cast<int>(direction)};
  };
  const auto directions = directions_to(points);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const Box wanted = beside(own_, directions[i], width);
    for (const int peer : decomposition.ranks_meeting(wanted))
      receives_.push_back(message(intersect(wanted, decomposition.box(peer)), peer, i));
  }
  for (const int peer : decomposition.ranks_meeting(grown(own_, width))) {
    if (peer == comm_.view().rank()) continue;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const Box given = intersect(beside(decomposition.box(peer), directions[i], width), own_);
      if (!given.empty()) sends_.push_back(message(given, peer, i));
    }
  }
}

/// Cuts the rank's box into what others need and the rest.
void Halo::divide_box(const HaloConfig& config) {
  const Index3 n = own_.extents(), whole = config.decomposition.extents();
  const auto inner = [width = config.width](std::int64_t points, bool below, bool above) -> Range {
    const std::int64_t begin = below ? std::min(width, points) : 0;
    return {begin, std::max(begin, above ? points - width : points)};
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

void Halo::start(void* first, int field) {
  TAILRACE_CHECK(field >= 0 && field < max_fields, "a field has a number below 1024");
  auto* const bytes = static_cast<std::byte*>(first);
  const int tag = field * max_directions;
  for (const Message& one : receives_)
    receiving_.push_back(
        mpi::start_receive(comm_, bytes + one.offset_bytes, one.type.get(), one.peer, tag + one.direction));
  for (const Message& one : sends_)
    sending_.push_back(
        mpi::start_send(comm_, bytes + one.offset_bytes, one.type.get(), one.peer, tag + one.direction));
}

void Halo::progress() {
  mpi::test_all(receiving_);
  mpi::test_all(sending_);
}

void Halo::finish() {
  mpi::wait_all(receiving_);
  mpi::wait_all(sending_);
  receiving_.clear();
  sending_.clear();
}

void Halo::exchange(void* first) {
  start(first, 0);
  finish();
}

}  // namespace tailrace::layout
