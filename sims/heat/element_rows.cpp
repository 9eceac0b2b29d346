// SPDX-License-Identifier: BSD-3-Clause
#include "element_rows.hpp"

#include <cstddef>
#include <cstring>

namespace tailrace::heat {

namespace {

/// What a row begins with; its values are behind it.
struct Head {
  std::int32_t x = 0, y = 0, z = 0, level = 0;
};

}  // namespace

checkpoint::RowType ElementRows::type() const {
  return {.bytes = static_cast<std::int64_t>(sizeof(Head) + points_ * sizeof(double)),
          .members = {{.name = "low", .type = "<i4", .offset = offsetof(Head, x), .count = 3},
                      {.name = "level", .type = "<i4", .offset = offsetof(Head, level)},
                      {.name = "values",
                       .type = "<f8",
                       .offset = sizeof(Head),
                       .count = static_cast<std::int64_t>(points_)}}};
}

std::vector<checkpoint::RowSet::Cell> ElementRows::cells() const {
  std::vector<Cell> cells;
  for (const Leaf& leaf : forest_.leaves) cells.push_back({.key = leaf.key(), .count = 1});
  return cells;
}

void ElementRows::read(std::size_t cell, std::span<std::byte> rows) const {
  const Leaf& leaf = forest_.leaves[cell];
  const Head head{leaf.low[0], leaf.low[1], leaf.low[2], leaf.level};
  std::memcpy(rows.data(), &head, sizeof head);
  std::memcpy(rows.data() + sizeof head, get_(cell).data(), points_ * sizeof(double));
}

std::vector<checkpoint::KeyRange> ElementRows::begin_restore() {
  if (forest_.starts[rank_] == forest_.starts[rank_ + 1]) return {};
  return {{forest_.starts[rank_], forest_.starts[rank_ + 1]}};
}

bool ElementRows::owns(std::uint64_t key, std::span<const std::byte> /*row*/) const {
  return key >= forest_.starts[rank_] && key < forest_.starts[rank_ + 1];
}

void ElementRows::add(std::uint64_t /*key*/, std::span<const std::byte> bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  std::vector<double> values(points_);
  std::memcpy(values.data(), bytes.data() + sizeof head, points_ * sizeof(double));
  put_({{head.x, head.y, head.z}, head.level}, values);
}

}  // namespace tailrace::heat
