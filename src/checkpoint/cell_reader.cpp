// SPDX-License-Identifier: BSD-3-Clause
#include "cell_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "background_task.hpp"
#include "base/aligned.hpp"
#include "digest.hpp"
#include "manifest.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

/// Cells that lie together are read so many bytes at a time, or one cell; while they are looked at, the next
/// ones are on their way.
constexpr std::int64_t max_read_bytes = 4 << 20;

// Words before the last three of an entry of a compressed set.
std::int64_t first_word_of(CellReader::Words words) noexcept {
  return static_cast<std::int64_t>(words[words.size() - 6]);
}
std::int64_t stored_words_of(CellReader::Words words) noexcept {
  return static_cast<std::int64_t>(words[words.size() - 5]);
}
std::uint64_t stored_digest_in(CellReader::Words words) noexcept {
  return words[words.size() - 4];
}
// The last words of entries and parts.
std::int64_t first_of(CellReader::Words words) noexcept {
  return static_cast<std::int64_t>(words[words.size() - 3]);
}
std::int64_t count_of(CellReader::Words words) noexcept {
  return static_cast<std::int64_t>(words[words.size() - 2]);
}
std::uint64_t digest_in(CellReader::Words words) noexcept {
  return words.back();
}

}  // namespace

void CellReader::damaged(const std::string& what, std::int64_t offset) const {
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("{}: {} of {} at byte {} is damaged: its checksum is another",
                                               file_.path(), what, path_, offset),
                        .path = file_.path(),
                        .offset = offset,
                        .hint = remedy});
}

std::int64_t CellReader::place_of(Words entry) const noexcept {
  return set_.data_place +
         (set_.compressed ? first_word_of(entry) * word_bytes : first_of(entry) * set_.bytes_each());
}

std::vector<std::uint64_t> CellReader::entries_of(Words part) const {
  const auto words = static_cast<std::int64_t>(set_.entry_words());
  std::vector<std::uint64_t> entries(static_cast<std::size_t>(count_of(part) * words));
  const std::int64_t place = set_.cells_place + first_of(part) * words * word_bytes;
  file_.read(place, std::as_writable_bytes(std::span(entries)));
  if (digest_of_values(std::span<const std::uint64_t>(entries)) != digest_in(part))
    damaged("the directory", place);
  return entries;
}

std::int64_t CellReader::end_of(Words entry) const noexcept {
  return place_of(entry) +
         (set_.compressed ? stored_words_of(entry) * word_bytes : count_of(entry) * set_.bytes_each());
}

std::vector<CellReader::Run> CellReader::runs_of(const Wanted& part_wanted, const Wanted& cell_wanted) const {
  const std::size_t words = set_.entry_words(), part_words = set_.part_words();
  std::vector<Run> runs;
  for (std::size_t p = 0; p + part_words <= set_.parts.size(); p += part_words) {
    const auto part = Words(set_.parts).subspan(p, part_words);
    if (count_of(part) == 0 || !part_wanted(part.first(part_words - 3))) continue;
    const auto entries = entries_of(part);
    for (std::size_t at = 0; at < entries.size(); at += words) {
      const auto entry = Words(entries).subspan(at, words);
      if (!cell_wanted(entry.first(set_.head_words()))) continue;
      const bool joins = !runs.empty() && runs.back().end == place_of(entry) &&
                         end_of(entry) - runs.back().begin <= max_read_bytes;
      if (!joins) runs.push_back({.begin = place_of(entry), .end = 0, .entries = {}});
      runs.back().end = end_of(entry);
      runs.back().entries.insert(runs.back().entries.end(), entry.begin(), entry.end());
    }
  }
  return runs;
}

/// The cell that compressed bytes represent.
std::span<const std::byte> CellReader::plain(Words entry, std::span<const std::byte> stored,
                                             CellDecompressor& decompressor) const {
  if (digest_of(stored) != stored_digest_in(entry)) damaged("a cell", place_of(entry));
  const auto bytes = static_cast<std::size_t>(count_of(entry) * set_.bytes_each());
  const auto cell = decompressor.restore(stored, bytes);
  if (cell.size() != bytes) damaged("a compressed cell", place_of(entry));
  return cell;
}

void CellReader::take_run(const Run& run, std::span<const std::byte> data, CellDecompressor* decompressor,
                          const Take& take) const {
  const std::size_t words = set_.entry_words();
  for (std::size_t at = 0; at < run.entries.size(); at += words) {
    const auto entry = Words(run.entries).subspan(at, words);
    const auto stored = data.subspan(static_cast<std::size_t>(place_of(entry) - run.begin),
                                     static_cast<std::size_t>(end_of(entry) - place_of(entry)));
    const auto cell = decompressor != nullptr ? plain(entry, stored, *decompressor) : stored;
    if (digest_of(cell) != digest_in(entry)) damaged("a cell", place_of(entry));
    take(entry, cell);
  }
}

void CellReader::read(const Wanted& part_wanted, const Wanted& cell_wanted, const Take& take) const {
  const auto runs = runs_of(part_wanted, cell_wanted);
  std::array<AlignedVector<std::byte>, 2> buffers;
  const auto fetch = [&](std::size_t i) {
    auto& buffer = buffers[i % 2];
    const auto bytes = static_cast<std::size_t>(runs[i].end - runs[i].begin);
    if (buffer.size() < bytes) buffer.resize(bytes);
    file_.read(runs[i].begin, std::span(buffer).first(bytes));
  };
  std::unique_ptr<CellDecompressor> decompressor;
  if (set_.compressed)
    decompressor = std::make_unique<CellDecompressor>(static_cast<std::size_t>(set_.bytes_each()));
  std::unique_ptr<BackgroundTask> ahead;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (ahead) ahead->finish();
    if (i == 0) fetch(0);
    ahead.reset();
    if (i + 1 < runs.size()) ahead = std::make_unique<BackgroundTask>([&fetch, i] { fetch(i + 1); });
    take_run(runs[i], buffers[i % 2], decompressor.get(), take);
  }
}

}  // namespace tailrace::checkpoint
