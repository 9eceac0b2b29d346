// SPDX-License-Identifier: BSD-3-Clause
#include "element_rows.hpp"

#include <cstddef>
#include <cstring>

namespace tailrace::heat {

checkpoint::RowType ElementRows::type() const {
  return {.bytes = sizeof(Row),
          .members = {{.name = "low", .type = "<i4", .offset = offsetof(Row, x), .count = 3},
                      {.name = "level", .type = "<i4", .offset = offsetof(Row, level)},
                      {.name = "values",
                       .type = "<f8",
                       .offset = offsetof(Row, values),
                       .count = static_cast<std::int64_t>(element_points)}}};
}

std::vector<checkpoint::RowSet::Cell> ElementRows::cells() const {
  std::vector<Cell> cells;
  for (const Leaf& leaf : forest_.leaves) cells.push_back({.key = leaf.key(), .count = 1});
  return cells;
}

void ElementRows::read(std::size_t cell, std::span<std::byte> rows) const {
  const Leaf& leaf = forest_.leaves[cell];
  const Row row{leaf.low[0], leaf.low[1], leaf.low[2], leaf.level, get_(cell)};
  std::memcpy(rows.data(), &row, sizeof row);
}

std::vector<checkpoint::KeyRange> ElementRows::begin_restore() {
  if (forest_.starts[rank_] == forest_.starts[rank_ + 1]) return {};
  return {{forest_.starts[rank_], forest_.starts[rank_ + 1]}};
}

bool ElementRows::owns(std::uint64_t key, std::span<const std::byte> /*row*/) const {
  return key >= forest_.starts[rank_] && key < forest_.starts[rank_ + 1];
}

void ElementRows::add(std::uint64_t /*key*/, std::span<const std::byte> bytes) {
  Row row;
  std::memcpy(&row, bytes.data(), sizeof row);
  put_({{row.x, row.y, row.z}, row.level}, row.values);
}

}  // namespace tailrace::heat
