// SPDX-License-Identifier: BSD-3-Clause
#include "outgoing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "manifest.hpp"
#include "row_type.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

OutgoingSet::OutgoingSet(std::string path, std::size_t head_words, std::int64_t bytes_each,
                         std::shared_ptr<CellCompressor> compressor)
    : path_(std::move(path)),
      head_words_(head_words),
      bytes_each_(bytes_each),
      compressor_(std::move(compressor)) {}

void OutgoingSet::add_cell(const std::vector<std::uint64_t>& head, std::int64_t count) {
  entries_.insert(entries_.end(), head.begin(), head.end());
  entries_.resize(entries_.size() + entry_words() - head_words_);
  auto* const end = entries_.data() + entries_.size();
  end[-3] = word(count_);
  end[-2] = word(count);
  count_ += count;
}

h5::DatasetSpec OutgoingSet::data_spec(std::int64_t count, std::int64_t stored_bytes) const {
  auto spec = plain_spec(count);
  if (!is_compressed()) return spec;
  const auto values_each = bytes_each_ / static_cast<std::int64_t>(h5::size_bytes(spec.type));
  spec.attributes.push_back({.name = "compression", .value = "zstd"});
  spec.attributes.push_back({.name = "type", .value = numpy_name(spec.type)});
  spec.attributes.push_back({.name = "values_each", .value = fmt::format("{}", values_each)});
  spec.type = h5::ElementType::uint64;
  spec.shape = {word(stored_bytes / word_bytes)};
  return spec;
}

std::size_t OutgoingSet::cell_bytes(std::size_t cell) noexcept {
  return entry_end(cell)[-2] * word(bytes_each_);
}

std::span<std::byte> OutgoingSet::room_for(std::size_t cell) {
  scratch_.resize(std::max(scratch_.size(), cell_bytes(cell)));
  return std::span(scratch_).first(cell_bytes(cell));
}

/// Makes a cell, and its entry complete if that was not done before. Returns its stored bytes, which are
/// `place` unless the set is compressed.
std::span<const std::byte> OutgoingSet::make_stored(std::size_t cell, std::span<std::byte> place) {
  make_cell(cell, place);
  const auto stored =
      is_compressed() ? compressor_->store(place, static_cast<std::size_t>(bytes_each_)) : place;
  if (cell < marked_) return stored;
  auto* const end = entry_end(cell);
  end[-1] = digest_of(place);
  sum_ += sum_of(place, end[-1]);
  if (is_compressed()) {
    end[-6] = word(stored_bytes_ / word_bytes);
    end[-5] = stored.size() / word_bytes;
    end[-4] = digest_of(stored);
    stored_bytes_ += static_cast<std::int64_t>(stored.size());
  }
  ++marked_;
  return stored;
}

void OutgoingSet::make_all(std::int64_t max_kept) {
  const auto most = static_cast<std::size_t>(std::min(max_kept, count_ * bytes_each_));
  kept_.reserve(most);  // takes memory as it is filled
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    const auto stored = make_stored(cell, room_for(cell));
    if (next_ < cell || kept_.size() + stored.size() > most) continue;
    kept_.insert(kept_.end(), stored.begin(), stored.end());
    next_ = cell + 1;
  }
  ready_ = kept_;
  scratch_ = {};
}

/// Makes the next cell where it belongs, or if it has no room there, has it ready. Returns the bytes made
/// there.
std::size_t OutgoingSet::begin_cell(std::span<std::byte> out) {
  const auto cell = next_++;
  const auto bytes = cell_bytes(cell);
  if (!is_compressed() && bytes <= out.size()) {
    make_stored(cell, out.first(bytes));
    return bytes;
  }
  ready_ = make_stored(cell, room_for(cell));
  return 0;
}

std::size_t OutgoingSet::give(std::span<std::byte> out) {
  const std::size_t room = out.size();
  while (!out.empty() && (!ready_.empty() || next_ < cells())) {
    if (ready_.empty()) out = out.subspan(begin_cell(out));
    const std::size_t some = std::min(out.size(), ready_.size());
    if (some > 0) std::memcpy(out.data(), ready_.data(), some);
    out = out.subspan(some);
    ready_ = ready_.subspan(some);
    if (ready_.empty()) kept_ = {};
  }
  if (ready_.empty() && next_ == cells()) scratch_ = {};
  return room - out.size();
}

void OutgoingSet::place(std::int64_t first, std::int64_t first_byte) {
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    auto* const end = entry_end(cell);
    end[-3] += word(first);
    if (is_compressed()) end[-6] += word(first_byte / word_bytes);
  }
}

std::vector<std::uint64_t> OutgoingSet::part(std::int64_t first_entry) const {
  auto part = span();
  part.insert(part.end(), {word(first_entry), word(entry_count()),
                           digest_of_values(std::span<const std::uint64_t>(entries_))});
  return part;
}

/// Refuses fields that a file would have without some of their values. @collective{comm}
static void check_covers(mpi::CommView comm, const std::vector<std::unique_ptr<OutgoingSet>>& sets) {
  std::vector<std::uint64_t> mine;
  for (const auto& set : sets) mine.push_back(set->cover().own);
  const auto all = mpi::sum(comm, mine);
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (all[i] != sets[i]->cover().all)
      throw Error(ErrorInfo{
          .kind = ErrorKind::input,
          .message = fmt::format("the boxes of all ranks do not cover the field {} once", sets[i]->path()),
          .path = {},
          .rank = 0,
          .hint = "each point of its domain in the box of one rank"});
}

std::vector<PlacedSet> place_sets(mpi::CommView comm, const std::vector<std::unique_ptr<OutgoingSet>>& sets) {
  check_covers(comm, sets);
  std::vector<std::int64_t> mine;
  for (const auto& set : sets)
    mine.insert(mine.end(), {set->count(), set->stored_bytes(), set->entry_count()});
  const auto before = mpi::exclusive_scan(comm, mine), all = mpi::sum(comm, mine);
  std::vector<PlacedSet> placed;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto share = [&](std::size_t k) {
      return Share{before[3 * i + k], mine[3 * i + k], all[3 * i + k]};
    };
    placed.push_back({sets[i].get(), share(0), share(1), share(2)});
    sets[i]->place(placed.back().count.first, placed.back().stored.first);
  }
  return placed;
}

}  // namespace tailrace::checkpoint
