#include "outgoing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "record_type.hpp"
#include "tailrace/base/check.hpp"
#include "tailrace/output/pack.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr std::int64_t word_bytes = 8;

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
  const std::int64_t planes = std::max<std::int64_t>(1, most_cell_bytes / plane);
  const std::int64_t rows = plane > most_cell_bytes ? std::max<std::int64_t>(1, most_cell_bytes / row) : n.y;
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
  OutgoingField(std::string path, const FieldState& field)
      : OutgoingSet(std::move(path)),
        field_(field),
        view_{field.data, field.type, field.box, field.stride_y, field.stride_z},
        cells_(cut(field.box, static_cast<std::int64_t>(h5::size_bytes(field.type)))) {
    for (const Box& cell : cells_) add_cell(corners(cell), cell.volume());
  }

  [[nodiscard]] std::size_t entry_words() const noexcept override { return 9; }
  [[nodiscard]] std::int64_t values_each() const noexcept override { return 1; }
  [[nodiscard]] h5::DatasetSpec data_spec(std::int64_t all) const override {
    const Index3& n = field_.domain;
    TAILRACE_CHECK(all == n.volume(), "the boxes of all ranks cover the field once");
    return {fmt::format("/sets/{}/data", path()),
            {word(all)},
            field_.type,
            {{.name = "kind", .value = "field"},
             {.name = "extents", .value = fmt::format("{} {} {}", n.x, n.y, n.z)}}};
  }

  void fill(std::int64_t first, std::int64_t count, std::span<std::byte> out) override {
    const std::size_t size = h5::size_bytes(field_.type);
    TAILRACE_CHECK(first == begin_ + done_, "values are made in their order");
    while (count > 0) {
      output::Piece piece;
      piece.type = field_.type;
      piece.block = cells_[cell_];
      piece.values = piece.block.volume();
      const std::int64_t some = std::min(count, piece.values - done_);
      const auto part = out.first(static_cast<std::size_t>(some) * size);
      output::pack(view_, piece, field_.box, done_, some, part);
      digest_.add(part);
      out = out.subspan(part.size());
      count -= some;
      done_ += some;
      if (done_ == piece.values) end_cell();
    }
  }

 private:
  void end_cell() {
    const auto digest = digest_.take();
    note_digest(cell_, digest);
    add_to_sum(digest);
    begin_ += done_;
    done_ = 0;
    ++cell_;
  }
  [[nodiscard]] std::vector<std::uint64_t> span() const override {
    return field_.box.empty() ? std::vector<std::uint64_t>(6) : corners(field_.box);
  }

  FieldState field_;
  output::FieldView view_;
  std::vector<Box> cells_;
  std::size_t cell_ = 0;               ///< that is being filled
  std::int64_t begin_ = 0, done_ = 0;  ///< its first value, and how many of it are made
  Digest digest_;
};

class OutgoingRecords final : public OutgoingSet {
 public:
  OutgoingRecords(std::string path, const RecordSet& records)
      : OutgoingSet(std::move(path)),
        records_(records),
        type_(records.type()),
        padded_bytes_(padded_bytes(type_)),
        cells_(records.cells()) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      TAILRACE_CHECK(cells_[i].count > 0 && (i == 0 || cells_[i - 1].key < cells_[i].key),
                     "cells have records, and keys that ascend");
      add_cell({cells_[i].key}, cells_[i].count);
    }
  }

  [[nodiscard]] std::size_t entry_words() const noexcept override { return 4; }
  [[nodiscard]] std::int64_t values_each() const noexcept override { return padded_bytes_ / word_bytes; }
  [[nodiscard]] h5::DatasetSpec data_spec(std::int64_t all) const override {
    return {fmt::format("/sets/{}/data", path()),
            {word(all), word(values_each())},
            h5::ElementType::uint64,
            {{.name = "kind", .value = "records"}, {.name = "record_type", .value = to_json(type_)}}};
  }

  void fill(std::int64_t first, std::int64_t count, std::span<std::byte> out) override {
    TAILRACE_CHECK(first == made_, "values are made in their order");
    made_ += count;
    while (!out.empty()) out = out.subspan(given_ < scratch_.size() ? give(out) : begin_cell(out));
  }

 private:
  /// Gives what is ready of a cell. Returns the bytes.
  std::size_t give(std::span<std::byte> out) {
    const std::size_t some = std::min(out.size(), scratch_.size() - given_);
    std::memcpy(out.data(), scratch_.data() + given_, some);
    given_ += some;
    return some;
  }
  /// Makes the next cell where it belongs, or if there is no room for all of it, has it ready. Returns the
  /// bytes made there.
  std::size_t begin_cell(std::span<std::byte> out) {
    const auto bytes = static_cast<std::size_t>(cells_[cell_].count * padded_bytes_);
    if (bytes <= out.size()) {
      make_cell(out.first(bytes));
      return bytes;
    }
    scratch_.resize(bytes);
    make_cell(scratch_);
    given_ = 0;
    return 0;
  }
  /// The records of the next cell, each padded.
  void make_cell(std::span<std::byte> out) {
    const auto bytes = static_cast<std::size_t>(type_.bytes),
               padded = static_cast<std::size_t>(padded_bytes_), count = out.size() / padded;
    if (bytes == padded) {
      records_.read(cell_, out);
    } else {
      packed_.resize(count * bytes);
      records_.read(cell_, packed_);
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(out.data() + i * padded, packed_.data() + i * bytes, bytes);
        std::memset(out.data() + i * padded + bytes, 0, padded - bytes);
      }
    }
    note_digest(cell_++, digest_of(out));
    for (std::size_t i = 0; i < count; ++i) add_to_sum(digest_of(out.subspan(i * padded, padded)));
  }
  [[nodiscard]] std::vector<std::uint64_t> span() const override {
    if (cells_.empty()) return {0, 0};
    return {cells_.front().key, cells_.back().key};
  }

  const RecordSet& records_;
  RecordType type_;
  std::int64_t padded_bytes_;
  std::vector<RecordSet::Cell> cells_;
  std::size_t cell_ = 0;                     ///< the next one
  std::vector<std::byte> scratch_, packed_;  ///< of a cell that did not fit; as the set has its records
  std::size_t given_ = 0;                    ///< bytes of scratch_ that have left
  std::int64_t made_ = 0;
};

}  // namespace

void OutgoingSet::add_cell(const std::vector<std::uint64_t>& head, std::int64_t count) {
  entries_.insert(entries_.end(), head.begin(), head.end());
  entries_.insert(entries_.end(), {word(count_), word(count), 0});
  count_ += count;
}

void OutgoingSet::place(std::int64_t first) {
  const std::size_t words = entry_words();
  for (std::size_t i = words - 3; i < entries_.size(); i += words) entries_[i] += word(first);
}

std::vector<std::uint64_t> OutgoingSet::part(std::int64_t first_entry) const {
  auto part = span();
  part.insert(part.end(), {word(first_entry), word(entry_count()),
                           digest_of_values(std::span<const std::uint64_t>(entries_))});
  return part;
}

std::vector<std::unique_ptr<OutgoingSet>> outgoing_sets(const Inventory& inventory) {
  std::vector<std::unique_ptr<OutgoingSet>> sets;
  for (const auto& [path, field] : inventory.fields())
    sets.push_back(std::make_unique<OutgoingField>(path, field));
  for (const auto& [path, records] : inventory.record_sets())
    sets.push_back(std::make_unique<OutgoingRecords>(path, *records));
  return sets;
}

std::vector<PlacedSet> place_sets(mpi::CommView comm, const std::vector<std::unique_ptr<OutgoingSet>>& sets) {
  std::vector<std::int64_t> mine;
  for (const auto& set : sets) mine.insert(mine.end(), {set->count(), set->entry_count()});
  const auto before = mpi::exclusive_scan(comm, mine), all = mpi::sum(comm, mine);
  std::vector<PlacedSet> placed;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto share = [&](std::size_t k) { return Share{before[k], mine[k], all[k]}; };
    placed.push_back({sets[i].get(), share(2 * i), share(2 * i + 1)});
    sets[i]->place(before[2 * i]);
  }
  return placed;
}

}  // namespace tailrace::checkpoint
