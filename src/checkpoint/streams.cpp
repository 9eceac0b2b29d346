#include "checkpoint/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tailrace::checkpoint {

namespace {

/// The values of a reduction as records: the number of the element in the dataset, and the value. Cells are
/// stretches of the dataset, so that a rank reads those that its runs touch.
class ReductionRecords final : public RecordSet {
 public:
  explicit ReductionRecords(output::RunningReduction reduction)
      : reduction_(std::move(reduction)), value_bytes_(h5::size_bytes(reduction_.type)) {
    std::int64_t position = 0;
    for (const auto& run : reduction_.runs)
      for (std::int64_t begin = run.offset; begin < run.offset + run.length;) {
        const std::int64_t key = begin / elements_per_cell;
        const std::int64_t end = std::min(run.offset + run.length, (key + 1) * elements_per_cell);
        add_stretch(static_cast<std::uint64_t>(key), {begin, end, position});
        position += end - begin;
        begin = end;
      }
  }

  [[nodiscard]] RecordType type() const override {
    return {
        .bytes = static_cast<std::int64_t>(number_bytes + value_bytes_),
        .members = {{.name = "element", .type = "<i8", .offset = 0},
                    {.name = "value", .type = value_bytes_ == 4 ? "<f4" : "<f8", .offset = number_bytes}}};
  }
  [[nodiscard]] std::vector<Cell> cells() const override { return cells_; }

  void read(std::size_t cell, std::span<std::byte> records) const override {
    std::byte* out = records.data();
    for (std::size_t i = first_stretch_[cell]; i < end_of(cell); ++i)
      for (std::int64_t element = stretches_[i].begin; element < stretches_[i].end; ++element) {
        std::memcpy(out, &element, number_bytes);
        std::memcpy(out + number_bytes, value(stretches_[i], element), value_bytes_);
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
  [[nodiscard]] bool owns(std::uint64_t, std::span<const std::byte> record) const override {
    return stretch_with(element_of(record)) != nullptr;
  }
  void add(std::uint64_t, std::span<const std::byte> record) override {
    const auto element = element_of(record);
    std::memcpy(value(*stretch_with(element), element), record.data() + number_bytes, value_bytes_);
  }

 private:
  static constexpr std::int64_t elements_per_cell = 4096;
  static constexpr std::size_t number_bytes = 8;

  /// Elements of one cell that are neighbours in the dataset.
  struct Stretch {
    std::int64_t begin = 0, end = 0;
    std::int64_t position = 0;  ///< of its first value among this rank's
  };

  void add_stretch(std::uint64_t key, const Stretch& stretch) {
    if (cells_.empty() || cells_.back().key != key) {
      cells_.push_back({key, 0});
      first_stretch_.push_back(stretches_.size());
    }
    cells_.back().count += stretch.end - stretch.begin;
    stretches_.push_back(stretch);
  }
  [[nodiscard]] std::size_t end_of(std::size_t cell) const noexcept {
    return cell + 1 < first_stretch_.size() ? first_stretch_[cell + 1] : stretches_.size();
  }
  static std::int64_t element_of(std::span<const std::byte> record) noexcept {
    std::int64_t element = 0;
    std::memcpy(&element, record.data(), number_bytes);
    return element;
  }
  [[nodiscard]] const Stretch* stretch_with(std::int64_t element) const noexcept {
    const auto after = std::partition_point(stretches_.begin(), stretches_.end(),
                                            [&](const Stretch& stretch) { return stretch.end <= element; });
    return after != stretches_.end() && after->begin <= element ? &*after : nullptr;
  }
  [[nodiscard]] std::byte* value(const Stretch& stretch, std::int64_t element) const noexcept {
    return reduction_.values.data() +
           static_cast<std::size_t>(stretch.position + element - stretch.begin) * value_bytes_;
  }

  output::RunningReduction reduction_;
  std::size_t value_bytes_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> first_stretch_;  ///< of each cell
  std::vector<Stretch> stretches_;          ///< ascending
};

}  // namespace

void pass_reductions(StateArchive& archive, const std::vector<output::RunningReduction>& reductions) {
  if (reductions.empty()) return;
  archive.component("output", 1, [&](int) {
    for (const auto& reduction : reductions)
      archive.records(fmt::format("{}.{}", reduction.stream, reduction.part),
                      std::make_unique<ReductionRecords>(reduction));
  });
}

}  // namespace tailrace::checkpoint
