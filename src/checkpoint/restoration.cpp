// SPDX-License-Identifier: BSD-3-Clause
#include "restoration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cell_reader.hpp"
#include "digest.hpp"
#include "row_type.hpp"
#include "stored_item.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

std::int64_t number(std::uint64_t word) noexcept {
  return static_cast<std::int64_t>(word);
}

Box box_of(CellReader::Words corners) noexcept {
  return {{number(corners[0]), number(corners[1]), number(corners[2])},
          {number(corners[3]), number(corners[4]), number(corners[5])}};
}

/// Copies what the boxes share from a cell, whose values are one behind the other, into the field.
void copy_cell(const Box& cell, std::span<const std::byte> data, const Box& shared, const FieldState& field) {
  const std::size_t size = h5::size_bytes(field.type);
  const Index3 n = cell.extents();
  const auto row_bytes = static_cast<std::size_t>(shared.x().size()) * size;
  for (std::int64_t z = shared.lo.z; z < shared.hi.z; ++z)
    for (std::int64_t y = shared.lo.y; y < shared.hi.y; ++y) {
      const std::int64_t from = ((z - cell.lo.z) * n.y + (y - cell.lo.y)) * n.x + (shared.lo.x - cell.lo.x);
      const std::int64_t to = (z - field.box.lo.z) * field.stride_z + (y - field.box.lo.y) * field.stride_y +
                              (shared.lo.x - field.box.lo.x);
      std::memcpy(static_cast<std::byte*>(field.data) + static_cast<std::size_t>(to) * size,
                  data.data() + static_cast<std::size_t>(from) * size, row_bytes);
    }
}

/// Hands what the boxes share from a cell to the field.
void write_cell(const Box& cell, std::span<const std::byte> data, const Box& shared,
                const FieldState& field) {
  if (shared.empty()) return;
  if (shared == cell) return field.write(cell, data);
  const Index3 n = shared.extents();
  std::vector<std::byte> values(static_cast<std::size_t>(n.volume()) * h5::size_bytes(field.type));
  copy_cell(cell, data, shared,
            {.data = values.data(),
             .type = field.type,
             .domain = {},
             .box = shared,
             .stride_y = n.x,
             .stride_z = n.x * n.y});
  field.write(shared, values);
}

/// Returns whether a range has keys from `lowest` to `highest`.
bool touch(const std::vector<KeyRange>& ranges, std::uint64_t lowest, std::uint64_t highest) {
  const auto after = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](const KeyRange& range) { return range.end <= lowest; });
  return after != ranges.end() && after->begin <= highest;
}

}  // namespace

void Restoration::refuse(const std::string& path, const std::string& what) const {
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("{}: {}: {}", file_.path(), path, what),
                        .path = file_.path(),
                        .hint = "resume with the program and the case that wrote the checkpoint"});
}

template <class T>
const T& Restoration::find(const std::map<std::string, T>& parts, const std::string& name,
                           std::string& path) {
  path = fmt::format("{}/{}", component_, name);
  const auto found = parts.find(path);
  if (found == parts.end()) refuse(path, "is missing in the checkpoint");
  asked_.insert(path);
  return found->second;
}

std::vector<std::string> Restoration::left() const {
  std::vector<std::string> left;
  const auto look = [&](const auto& parts) {
    for (const auto& [path, part] : parts)
      if (!asked_.contains(path)) left.push_back(path);
  };
  look(contents_.components);
  look(contents_.numbers);
  look(contents_.texts);
  look(contents_.sets);
  return left;
}

int Restoration::enter(const std::string& component, int /*version*/) {
  component_ = component;
  const auto found = contents_.components.find(component);
  if (found == contents_.components.end()) refuse(component, "this component is missing in the checkpoint");
  asked_.insert(component);
  return found->second;
}

void Restoration::pass_numbers(const std::string& name, h5::ElementType type, std::vector<std::byte>& bytes) {
  std::string path;
  const auto& numbers = find(contents_.numbers, name, path);
  if (numbers.type != type)
    refuse(path, fmt::format("holds numbers of {} instead of {}", h5::to_string(numbers.type),
                             h5::to_string(type)));
  const auto found = std::as_bytes(std::span(numbers.bits));
  bytes.assign(found.begin(), found.end());
}

void Restoration::pass_text(const std::string& name, std::string& text) {
  std::string path;
  text = find(contents_.texts, name, path);
}

void Restoration::pass_field(const std::string& name, const FieldState& field) {
  std::string path;
  const auto& set = find(contents_.sets, name, path);
  const Index3& n = field.domain;
  if (const auto extents = fmt::format("{} {} {}", n.x, n.y, n.z); !set.is_field() || set.extents != extents)
    refuse(path, fmt::format("has {} points, this run has {}", set.is_field() ? set.extents : "no", extents));
  if (set.type != field.type)
    refuse(path, fmt::format("holds {}, this run computes in {}", h5::to_string(set.type),
                             h5::to_string(field.type)));
  std::int64_t filled = 0;
  auto& taken = taken_[path];
  const auto wanted = [&](CellReader::Words corners) {
    return !intersect(box_of(corners), field.box).empty();
  };
  CellReader(file_, path, set)
      .read(wanted, wanted, [&](CellReader::Words entry, std::span<const std::byte> data) {
        const Box cell = box_of(entry), shared = intersect(cell, field.box);
        if (cell.volume() * set.bytes_each() != static_cast<std::int64_t>(data.size()))
          refuse(path, "a cell has another number of values than points");
        field.write ? write_cell(cell, data, shared, field) : copy_cell(cell, data, shared, field);
        filled += shared.volume();
        if (!field.box.contains(cell.lo)) return;
        taken.count += static_cast<std::uint64_t>(cell.volume());
        taken.sum += entry.back();
      });
  if (filled != field.box.volume())
    refuse(path, fmt::format("its cells have {} of the {} points of a rank", filled, field.box.volume()));
}

void Restoration::pass_rows(const std::string& name, RowSet& rows) {
  std::string path;
  const auto& set = find(contents_.sets, name, path);
  const auto type = rows.type();
  if (set.kind != "records" || set.row_type != to_json(type) || set.bytes_each() != padded_bytes(type))
    refuse(path, fmt::format("has rows of another type, {}", set.row_type));
  auto& taken = taken_[path];
  const auto ranges = rows.begin_restore();
  const auto padded = static_cast<std::size_t>(set.bytes_each());
  CellReader(file_, path, set)
      .read([&](CellReader::Words span) { return touch(ranges, span[0], span[1]); },
            [&](CellReader::Words cell) { return touch(ranges, cell[0], cell[0]); },
            [&](CellReader::Words entry, std::span<const std::byte> data) {
              for (std::size_t at = 0; at < data.size(); at += padded) {
                const auto row = data.subspan(at, static_cast<std::size_t>(type.bytes));
                if (!rows.owns(entry[0], row)) continue;
                rows.add(entry[0], row);
                ++taken.count;
                taken.sum += digest_of(data.subspan(at, padded));
              }
            });
}

void Restoration::pass_items(const std::string& name, ItemSet& items) {
  std::string path;
  const auto& set = find(contents_.sets, name, path);
  if (set.kind != "items" || set.bytes_each() != static_cast<std::int64_t>(item_word_bytes))
    refuse(path, "holds no items of any length");
  auto& taken = taken_[path];
  const auto ranges = items.begin_restore();
  CellReader(file_, path, set)
      .read([&](CellReader::Words span) { return touch(ranges, span[0], span[1]); },
            [&](CellReader::Words cell) { return touch(ranges, cell[0], cell[0]); },
            [&](CellReader::Words entry, std::span<const std::byte> data) {
              while (!data.empty()) {
                const auto item = take_item(data);
                if (!item) refuse(path, "an item is longer than its cell");
                if (!items.owns(entry[0], item->bytes)) continue;
                items.add(entry[0], item->bytes);
                taken.count += item->stored.size() / item_word_bytes;
                taken.sum += digest_of(item->stored);
              }
            });
}

}  // namespace tailrace::checkpoint
