#include "cell_reader.hpp"

#include <fmt/format.h>

#include "digest.hpp"
#include "manifest.hpp"
#include "tailrace/base/error.hpp"

namespace tailrace::checkpoint {

namespace {

/// Cells that lie together are read so many bytes at a time, or one cell.
constexpr std::int64_t most_read_bytes = 8 << 20;

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
  return set_.data_place + first_of(entry) * set_.bytes_each();
}

std::vector<std::uint64_t> CellReader::entries_of(Words part) const {
  const auto words = static_cast<std::int64_t>(set_.entry_words());
  std::vector<std::uint64_t> entries(static_cast<std::size_t>(count_of(part) * words));
  const std::int64_t place = set_.cells_place + first_of(part) * words * 8;
  file_.read(place, std::as_writable_bytes(std::span(entries)));
  if (digest_of_values(std::span<const std::uint64_t>(entries)) != digest_in(part))
    damaged("the directory", place);
  return entries;
}

void CellReader::read_run(Words entries, const Take& take) const {
  const std::size_t words = set_.entry_words();
  const auto last = entries.last(words);
  const std::int64_t place = place_of(entries.first(words)),
                     end = place_of(last) + count_of(last) * set_.bytes_each();
  std::vector<std::byte> data(static_cast<std::size_t>(end - place));
  file_.read(place, data);
  for (std::size_t at = 0; at < entries.size(); at += words) {
    const auto entry = entries.subspan(at, words);
    const auto cell = std::span<const std::byte>(data).subspan(
        static_cast<std::size_t>(place_of(entry) - place),
        static_cast<std::size_t>(count_of(entry) * set_.bytes_each()));
    if (digest_of(cell) != digest_in(entry)) damaged("a cell", place_of(entry));
    take(entry, cell);
  }
}

void CellReader::read(const Wanted& part_wanted, const Wanted& cell_wanted, const Take& take) const {
  const std::size_t words = set_.entry_words(), part_words = set_.part_words();
  std::vector<std::uint64_t> run;
  std::int64_t run_begin = 0, run_end = -1;  // elements or records
  const auto flush = [&] {
    if (!run.empty()) read_run(run, take);
    run.clear();
  };
  for (std::size_t p = 0; p + part_words <= set_.parts.size(); p += part_words) {
    const auto part = Words(set_.parts).subspan(p, part_words);
    if (count_of(part) == 0 || !part_wanted(part.first(part_words - 3))) continue;
    const auto entries = entries_of(part);
    for (std::size_t at = 0; at < entries.size(); at += words) {
      const auto entry = Words(entries).subspan(at, words);
      if (!cell_wanted(entry.first(words - 3))) continue;
      const std::int64_t end = first_of(entry) + count_of(entry);
      if (first_of(entry) != run_end || (end - run_begin) * set_.bytes_each() > most_read_bytes) {
        flush();
        run_begin = first_of(entry);
      }
      run.insert(run.end(), entry.begin(), entry.end());
      run_end = end;
    }
  }
  flush();
}

}  // namespace tailrace::checkpoint
