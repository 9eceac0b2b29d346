// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/box_cover.hpp"
#include "base/check.hpp"
#include "manifest.hpp"
#include "outgoing.hpp"
#include "output/core/pack.hpp"
#include "row_type.hpp"
#include "stored_item.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr std::size_t corner_words = 6, key_words = 1;

/// Cuts a box into boxes of whole planes, or of whole rows where a plane is too large; in the order of its
/// points.
std::vector<Box> cut(const Box& box, std::int64_t element_bytes) {
  std::vector<Box> cells;
  if (box.empty()) return cells;
  const Index3 n = box.extents();
  const std::int64_t row = n.x * element_bytes, plane = row * n.y;
  const std::int64_t planes = std::max<std::int64_t>(1, max_cell_bytes / plane);
  const std::int64_t rows = plane > max_cell_bytes ? std::max<std::int64_t>(1, max_cell_bytes / row) : n.y;
  for (std::int64_t z = box.lo.z; z < box.hi.z; z += planes)
    for (std::int64_t y = box.lo.y; y < box.hi.y; y += rows)
      cells.push_back(
          {{box.lo.x, y, z}, {box.hi.x, std::min(y + rows, box.hi.y), std::min(z + planes, box.hi.z)}});
  return cells;
}

std::vector<std::uint64_t> corners(const Box& box) {
  return {word(box.lo.x), word(box.lo.y), word(box.lo.z), word(box.hi.x), word(box.hi.y), word(box.hi.z)};
}

class OutgoingField final : public OutgoingSet {
 public:
  OutgoingField(std::string path, const FieldState& field, std::shared_ptr<CellCompressor> compressor)
      : OutgoingSet(std::move(path), corner_words, static_cast<std::int64_t>(h5::size_bytes(field.type)),
                    std::move(compressor)),
        field_(field),
        view_{field.data, field.type, field.box, field.stride_y, field.stride_z},
        cells_(cut(field.box, bytes_each())) {
    for (const Box& cell : cells_) add_cell(corners(cell), cell.volume());
  }

  [[nodiscard]] Cover cover() const override {
    return {.own = corner_sum(field_.box), .all = corner_sum(Box::whole(field_.domain))};
  }

 private:
  [[nodiscard]] h5::DatasetSpec plain_spec(std::int64_t count) const override {
    const Index3& n = field_.domain;
    return {fmt::format("/sets/{}/data", path()),
            {word(count)},
            field_.type,
            {{.name = "kind", .value = "field"},
             {.name = "extents", .value = fmt::format("{} {} {}", n.x, n.y, n.z)}}};
  }
  void make_cell(std::size_t cell, std::span<std::byte> out) override {
    if (field_.read) return field_.read(cells_[cell], out);
    output::Share share;
    share.type = field_.type;
    share.block = cells_[cell];
    share.values = share.block.volume();
    output::pack(view_, share, field_.box, 0, share.values, out);
  }
  [[nodiscard]] std::uint64_t sum_of(std::span<const std::byte> /*cell*/,
                                     std::uint64_t digest) const override {
    return digest;
  }
  [[nodiscard]] std::vector<std::uint64_t> span() const override {
    return field_.box.empty() ? std::vector<std::uint64_t>(corner_words) : corners(field_.box);
  }

  FieldState field_;
  output::FieldView view_;
  std::vector<Box> cells_;
};

class OutgoingRows final : public OutgoingSet {
 public:
  OutgoingRows(std::string path, const RowSet& row_set, std::shared_ptr<CellCompressor> compressor)
      : OutgoingSet(std::move(path), key_words, padded_bytes(row_set.type()), std::move(compressor)),
        rows_(row_set),
        type_(row_set.type()),
        cells_(row_set.cells()) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      TAILRACE_CHECK(cells_[i].count > 0 && (i == 0 || cells_[i - 1].key < cells_[i].key),
                     "cells have rows, and keys that ascend");
      add_cell({cells_[i].key}, cells_[i].count);
    }
  }

 private:
  [[nodiscard]] h5::DatasetSpec plain_spec(std::int64_t count) const override {
    return {fmt::format("/sets/{}/data", path()),
            {word(count), word(bytes_each() / word_bytes)},
            h5::ElementType::uint64,
            {{.name = "kind", .value = "records"}, {.name = "record_type", .value = to_json(type_)}}};
  }
  /// The rows of a cell, each padded.
  void make_cell(std::size_t cell, std::span<std::byte> out) override {
    const auto bytes = static_cast<std::size_t>(type_.bytes), padded = static_cast<std::size_t>(bytes_each()),
               count = out.size() / padded;
    if (bytes == padded) return rows_.read(cell, out);
    packed_.resize(count * bytes);
    rows_.read(cell, packed_);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(out.data() + i * padded, packed_.data() + i * bytes, bytes);
      std::memset(out.data() + i * padded + bytes, 0, padded - bytes);
    }
  }
  [[nodiscard]] std::uint64_t sum_of(std::span<const std::byte> cell,
                                     std::uint64_t /*digest*/) const override {
    const auto padded = static_cast<std::size_t>(bytes_each());
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < cell.size(); at += padded) sum += digest_of(cell.subspan(at, padded));
    return sum;
  }
  [[nodiscard]] std::vector<std::uint64_t> span() const override {
    if (cells_.empty()) return {0, 0};
    return {cells_.front().key, cells_.back().key};
  }

  const RowSet& rows_;
  RowType type_;
  std::vector<RowSet::Cell> cells_;
  std::vector<std::byte> packed_;  ///< rows of a cell as the set has them
};

class OutgoingItems final : public OutgoingSet {
 public:
  OutgoingItems(std::string path, const ItemSet& item_set, std::shared_ptr<CellCompressor> compressor)
      : OutgoingSet(std::move(path), key_words, static_cast<std::int64_t>(item_word_bytes),
                    std::move(compressor)),
        set_(item_set),
        items_(item_set.items()) {
    while (begin_of(cells_) < items_.size()) add_items(begin_of(cells_));
  }

 private:
  /// Items behind each other, from the end of the cell before on.
  using Ends = std::vector<std::size_t>;
  static std::size_t begin_of(const Ends& before) { return before.empty() ? 0 : before.back(); }

  /// Adds a cell of items with one key: as many as a cell may have, and at least one.
  void add_items(std::size_t begin) {
    std::size_t end = begin, bytes = 0;
    do {
      TAILRACE_CHECK(end == 0 || items_[end - 1].key <= items_[end].key, "keys of items ascend");
      bytes += stored_item_bytes(items_[end].bytes);
      ++end;
    } while (end < items_.size() && items_[end].key == items_[begin].key &&
             bytes + stored_item_bytes(items_[end].bytes) <= static_cast<std::size_t>(max_cell_bytes));
    cells_.push_back(end);
    add_cell({items_[begin].key}, static_cast<std::int64_t>(bytes / item_word_bytes));
  }
  [[nodiscard]] h5::DatasetSpec plain_spec(std::int64_t count) const override {
    return {fmt::format("/sets/{}/data", path()),
            {word(count)},
            h5::ElementType::uint64,
            {{.name = "kind", .value = "items"}}};
  }
  void make_cell(std::size_t cell, std::span<std::byte> out) override {
    for (auto item = cell == 0 ? 0 : cells_[cell - 1]; item < cells_[cell]; ++item) {
      const auto stored = out.first(stored_item_bytes(items_[item].bytes));
      set_.read(item, frame_item(stored, items_[item].bytes));
      out = out.subspan(stored.size());
    }
  }
  [[nodiscard]] std::uint64_t sum_of(std::span<const std::byte> cell,
                                     std::uint64_t /*digest*/) const override {
    std::uint64_t sum = 0;
    while (const auto item = take_item(cell)) sum += digest_of(item->stored);
    return sum;
  }
  [[nodiscard]] std::vector<std::uint64_t> span() const override {
    if (items_.empty()) return {0, 0};
    return {items_.front().key, items_.back().key};
  }

  const ItemSet& set_;
  std::vector<ItemSet::Item> items_;
  Ends cells_;
};

}  // namespace

std::vector<std::unique_ptr<OutgoingSet>> outgoing_sets(const Inventory& inventory,
                                                        const Compression& compression) {
  const auto compressor = compression.wanted() ? std::make_shared<CellCompressor>(compression) : nullptr;
  std::vector<std::unique_ptr<OutgoingSet>> sets;
  for (const auto& [path, field] : inventory.fields())
    sets.push_back(std::make_unique<OutgoingField>(path, field, compressor));
  for (const auto& [path, row_set] : inventory.row_sets())
    sets.push_back(std::make_unique<OutgoingRows>(path, *row_set, compressor));
  for (const auto& [path, item_set] : inventory.item_sets())
    sets.push_back(std::make_unique<OutgoingItems>(path, *item_set, compressor));
  return sets;
}

}  // namespace tailrace::checkpoint
