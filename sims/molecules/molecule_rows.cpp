#include "molecule_rows.hpp"

#include "molecule_row.hpp"

namespace tailrace::molecules {

checkpoint::RecordType MoleculeRecords::type() const {
  constexpr auto& layout = transfer_record;
  return {
      .bytes = layout.bytes,
      .members = {{.name = "position", .type = "<f8", .offset = layout.position, .count = 3},
                  {.name = "velocity", .type = "<f8", .offset = layout.velocity, .count = 3},
                  {.name = "orientation", .type = "<f8", .offset = layout.orientation, .count = 4},
                  {.name = "angular_momentum", .type = "<f8", .offset = layout.angular_momentum, .count = 3},
                  {.name = "id", .type = "<u8", .offset = layout.id},
                  {.name = "component", .type = "<i4", .offset = layout.component}}};
}

std::vector<checkpoint::RecordSet::Cell> MoleculeRecords::cells() const {
  order_ = sort_by_cell(grid_, list_);
  std::vector<Cell> cells;
  for (const auto& [cell, first, count] : order_.cells)
    cells.push_back({.key = static_cast<std::uint64_t>(cell), .count = count});
  return cells;
}

void MoleculeRecords::read(std::size_t cell, std::span<std::byte> records) const {
  const auto& [key, first, count] = order_.cells[cell];
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = order_.order[static_cast<std::size_t>(first + i)];
    pack(transfer_record, list_.molecule(number), records);
    records = records.subspan(transfer_record.bytes);
  }
}

std::vector<checkpoint::KeyRange> MoleculeRecords::begin_restore() {
  std::vector<checkpoint::KeyRange> ranges;
  for (const auto& [begin, end] : grid_.cells_of(own_))
    ranges.push_back({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)});
  return ranges;
}

bool MoleculeRecords::owns(std::uint64_t, std::span<const std::byte> record) const {
  return own_.contains(unpack(transfer_record, record).position);
}

void MoleculeRecords::add(std::uint64_t, std::span<const std::byte> record) {
  add_(unpack(transfer_record, record));
}

}  // namespace tailrace::molecules
