// SPDX-License-Identifier: BSD-3-Clause
#include "molecule_rows.hpp"

#include "molecule_row.hpp"

namespace tailrace::molecules {

checkpoint::RowType MoleculeRows::type() const {
  constexpr auto& layout = transfer_row;
  return {
      .bytes = layout.bytes,
      .members = {{.name = "position", .type = "<f8", .offset = layout.position, .count = 3},
                  {.name = "velocity", .type = "<f8", .offset = layout.velocity, .count = 3},
                  {.name = "orientation", .type = "<f8", .offset = layout.orientation, .count = 4},
                  {.name = "angular_momentum", .type = "<f8", .offset = layout.angular_momentum, .count = 3},
                  {.name = "id", .type = "<u8", .offset = layout.id},
                  {.name = "component", .type = "<i4", .offset = layout.component}}};
}

std::vector<checkpoint::RowSet::Cell> MoleculeRows::cells() const {
  order_ = sort_by_cell(grid_, list_);
  std::vector<Cell> cells;
  for (const auto& [cell, first, count] : order_.cells)
    cells.push_back({.key = static_cast<std::uint64_t>(cell), .count = count});
  return cells;
}

void MoleculeRows::read(std::size_t cell, std::span<std::byte> rows) const {
  const auto& [key, first, count] = order_.cells[cell];
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = order_.order[static_cast<std::size_t>(first + i)];
    pack(transfer_row, list_.molecule(number), rows);
    rows = rows.subspan(transfer_row.bytes);
  }
}

std::vector<checkpoint::KeyRange> MoleculeRows::begin_restore() {
  std::vector<checkpoint::KeyRange> ranges;
  for (const auto& [begin, end] : grid_.cells_of(own_))
    ranges.push_back({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)});
  return ranges;
}

bool MoleculeRows::owns(std::uint64_t, std::span<const std::byte> row) const {
  return own_.contains(unpack(transfer_row, row).position);
}

void MoleculeRows::add(std::uint64_t, std::span<const std::byte> row) {
  add_(unpack(transfer_row, row));
}

}  // namespace tailrace::molecules
