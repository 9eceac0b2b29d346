// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tailrace::checkpoint {

namespace {

/// The values of a reduction as rows: the number of the element in the dataset, and the value. Cells are
/// extents of the dataset, so that a rank reads those that its runs touch.
class ReductionRows final : public RowSet {
 public:
  explicit ReductionRows(output::RunningReduction reduction)
      : reduction_(std::move(reduction)), value_bytes_(h5::size_bytes(reduction_.type)) {
    std::int64_t position = 0;
    for (const auto& run : reduction_.runs)
      for (std::int64_t begin = run.offset; begin < run.offset + run.length;) {
        const std::int64_t key = begin / elements_per_cell;
        const std::int64_t end = std::min(run.offset + run.length, (key + 1) * elements_per_cell);
        add_extent(static_cast<std::uint64_t>(key), {begin, end, position});
        position += end - begin;
        begin = end;
      }
  }

  [[nodiscard]] RowType type() const override {
    return {
        .bytes = static_cast<std::int64_t>(number_bytes + value_bytes_),
        .members = {{.name = "element", .type = "<i8", .offset = 0},
                    {.name = "value", .type = value_bytes_ == 4 ? "<f4" : "<f8", .offset = number_bytes}}};
  }
  [[nodiscard]] std::vector<Cell> cells() const override { return cells_; }

  void read(std::size_t cell, std::span<std::byte> rows) const override {
    std::byte* out = rows.data();
    for (std::size_t i = first_extent_[cell]; i < end_of(cell); ++i)
      for (std::int64_t element = extents_[i].begin; element < extents_[i].end; ++element) {
        std::memcpy(out, &element, number_bytes);
        std::memcpy(out + number_bytes, value(extents_[i], element), value_bytes_);
        out += number_bytes + value_bytes_;
      }
  }

  [[nodiscard]] std::vector<KeyRange> begin_restore() override {
    std::vector<KeyRange> ranges;
    for (const auto& cell : cells_) {
      if (ranges.empty() || ranges.back().end != cell.key) ranges.push_back({cell.key, cell.key});
      ranges.back().end = cell.key + 1;
    }
    return ranges;
  }
  [[nodiscard]] bool owns(std::uint64_t, std::span<const std::byte> row) const override {
    return extent_with(element_of(row)) != nullptr;
  }
  void add(std::uint64_t, std::span<const std::byte> row) override {
    const auto element = element_of(row);
    std::memcpy(value(*extent_with(element), element), row.data() + number_bytes, value_bytes_);
  }

 private:
  static constexpr std::int64_t elements_per_cell = 4096;
  static constexpr std::size_t number_bytes = 8;

  /// Elements of one cell that are neighbours in the dataset.
  struct FileExtent {
    std::int64_t begin = 0, end = 0;
    std::int64_t position = 0;  ///< refers to its first value among this rank's
  };

  void add_extent(std::uint64_t key, const FileExtent& extent) {
    if (cells_.empty() || cells_.back().key != key) {
      cells_.push_back({key, 0});
      first_extent_.push_back(extents_.size());
    }
    cells_.back().count += extent.end - extent.begin;
    extents_.push_back(extent);
  }
  [[nodiscard]] std::size_t end_of(std::size_t cell) const noexcept {
    return cell + 1 < first_extent_.size() ? first_extent_[cell + 1] : extents_.size();
  }
  static std::int64_t element_of(std::span<const std::byte> row) noexcept {
    std::int64_t element = 0;
    std::memcpy(&element, row.data(), number_bytes);
    return element;
  }
  [[nodiscard]] const FileExtent* extent_with(std::int64_t element) const noexcept {
    const auto after = std::partition_point(extents_.begin(), extents_.end(),
                                            [&](const FileExtent& extent) { return extent.end <= element; });
    return after != extents_.end() && after->begin <= element ? &*after : nullptr;
  }
  [[nodiscard]] std::byte* value(const FileExtent& extent, std::int64_t element) const noexcept {
    return reduction_.values.data() +
           static_cast<std::size_t>(extent.position + element - extent.begin) * value_bytes_;
  }

  output::RunningReduction reduction_;
  std::size_t value_bytes_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> first_extent_;  ///< refers to each cell
  std::vector<FileExtent> extents_;        ///< ascending
};

}  // namespace

void pass_reductions(StateArchive& archive, const std::vector<output::RunningReduction>& reductions) {
  if (reductions.empty()) return;
  archive.component("output", 1, [&](int) {
    for (const auto& reduction : reductions)
      archive.rows(fmt::format("{}.{}", reduction.stream, reduction.part),
                   std::make_unique<ReductionRows>(reduction));
  });
}

}  // namespace tailrace::checkpoint
