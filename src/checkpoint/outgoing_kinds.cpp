// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "outgoing.hpp"
#include "output/core/pack.hpp"
#include "row_type.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr std::size_t corner_words = 6, key_words = 1;

std::uint64_t word(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number);
}

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

 private:
  [[nodiscard]] h5::DatasetSpec plain_spec(std::int64_t count) const override {
    const Index3& n = field_.domain;
    TAILRACE_CHECK(count == n.volume(), "the boxes of all ranks cover the field once");
    return {fmt::format("/sets/{}/data", path()),
            {word(count)},
            field_.type,
            {{.name = "kind", .value = "field"},
             {.name = "extents", .value = fmt::format("{} {} {}", n.x, n.y, n.z)}}};
  }
  void make_cell(std::size_t cell, std::span<std::byte> out) override {
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
    constexpr std::int64_t word_bytes = 8;
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

}  // namespace

std::vector<std::unique_ptr<OutgoingSet>> outgoing_sets(const Inventory& inventory,
                                                        const Compression& compression) {
  const auto compressor = compression.wanted() ? std::make_shared<CellCompressor>(compression) : nullptr;
  std::vector<std::unique_ptr<OutgoingSet>> sets;
  for (const auto& [path, field] : inventory.fields())
    sets.push_back(std::make_unique<OutgoingField>(path, field, compressor));
  for (const auto& [path, row_set] : inventory.row_sets())
    sets.push_back(std::make_unique<OutgoingRows>(path, *row_set, compressor));
  return sets;
}

}  // namespace tailrace::checkpoint
