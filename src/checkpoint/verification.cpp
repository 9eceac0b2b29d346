// SPDX-License-Identifier: BSD-3-Clause
#include "verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "digest.hpp"
#include "h5/file.hpp"
#include "manifest.hpp"
#include "set_check.hpp"
#include "stored_cell.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

using Words = SetCheck::Words;
using h5::ElementType;

std::string attribute(const h5::File& file, const std::string& path, const char* name) {
  return file.text_attribute(path, name).value_or("");
}

std::string described(const h5::File& file, const std::string& path) {
  return fmt::format("{} {}", file.type_text(path), h5::to_string(file.shape(path)));
}

/// Describes how the cells of a set lie in its data: one behind the other, or compressed one by one.
struct Storage {
  bool compressed = false;
  Elements elements;
  std::uint64_t words = 0;                      ///< that are stored, where they are compressed
  std::optional<std::uint64_t> words_seen = 0;  ///< nothing behind entries that are damaged
};

ElementType type_named(const std::string& name) {
  if (name == "<f4") return ElementType::float32;
  if (name == "<f8") return ElementType::float64;
  need(name == "<u8", fmt::format("type is \"{}\"", name));
  return ElementType::uint64;
}

Storage storage_of(const h5::File& file, const std::string& data, std::int64_t count) {
  Storage storage{.elements = {.type = file.type(data),
                               .shape = file.shape(data),
                               .extents = attribute(file, data, "extents"),
                               .row_type = attribute(file, data, "record_type")}};
  const auto compression = attribute(file, data, "compression");
  if (compression.empty()) return storage;
  need(compression == "zstd", fmt::format("compression is \"{}\", not zstd", compression));
  auto& elements = storage.elements;
  need(elements.type == ElementType::uint64 && elements.shape.size() == 1,
       fmt::format("data is {}, not words", described(file, data)));
  storage.compressed = true;
  storage.words = elements.shape[0];
  elements.type = type_named(attribute(file, data, "type"));
  elements.shape = {static_cast<std::uint64_t>(count)};
  if (attribute(file, data, "kind") == "records") {
    const auto digits = attribute(file, data, "values_each");
    std::uint64_t values = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), values);
    need(values > 0, fmt::format("values_each is \"{}\", not a count", digits));
    elements.shape.push_back(values);
  }
  return storage;
}

std::unique_ptr<SetCheck> check_of(const std::string& kind, const Elements& elements) {
  if (kind == "field") return std::make_unique<FieldCheck>(elements);
  if (kind == "items") return std::make_unique<ItemsCheck>(elements);
  need(kind == "records", fmt::format("kind is \"{}\", not one of field, records, items", kind));
  return std::make_unique<RowsCheck>(elements);
}

/// One pass over a set: rank after rank, cell after cell.
class SetWalk {
 public:
  SetWalk(const h5::File& file, const InputFile& bytes, const Manifest& manifest, std::string path,
          const Advance& advance, std::vector<Damage>& found)
      : file_(file),
        bytes_(bytes),
        advance_(advance),
        found_(found),
        found_before_(found.size()),
        path_(std::move(path)),
        reported_(manifest.sets.at(path_)) {
    for (const char* name : {"data", "cells", "parts"})
      need(file.has_dataset(inside(name)), fmt::format("{} is missing", name));
    const auto data = inside("data");
    const auto kind = attribute(file, data, "kind");
    storage_ = storage_of(file, data, reported_.count);
    check_ = check_of(kind, storage_.elements);
    entry_words_ = check_->cell_words() + (storage_.compressed ? 6 : 3);
    parts_ = table("parts", check_->part_words() + 3);
    const auto rows = parts_.size() / (check_->part_words() + 3);
    need(rows == static_cast<std::size_t>(manifest.ranks),
         fmt::format("{} parts for {}", rows, counted(manifest.ranks, "rank")));
    check_table("cells", entry_words_);
    entries_ = file.shape(inside("cells"))[0];
    data_place_ = place_of("data");
    cells_place_ = place_of("cells");
  }

  void run() {
    const std::size_t width = check_->part_words() + 3;
    for (std::size_t rank = 0; rank * width < parts_.size(); ++rank)
      check_rank(static_cast<int>(rank), Words(parts_).subspan(rank * width, width));
    need(entries_seen_ == entries_, "cells has entries that no rank wrote");
    const auto count = storage_.elements.count();
    need(count == reported_.count, fmt::format("{} elements, the manifest says {}", count, reported_.count));
    if (found_.size() == found_before_) finish();
  }

 private:
  [[nodiscard]] std::string inside(const char* name) const { return fmt::format("/sets/{}/{}", path_, name); }

  [[nodiscard]] std::int64_t place_of(const char* name) const {
    const auto place = file_.place(inside(name));
    need(place || h5::element_count(file_.shape(inside(name))) == 0,
         fmt::format("{} is not contiguous", inside(name)));
    return static_cast<std::int64_t>(place.value_or(0));
  }

  void check_table(const char* name, std::size_t words) const {
    const auto shape = file_.shape(inside(name));
    need(file_.type(inside(name)) == ElementType::uint64 && shape.size() == 2 && shape[1] == words,
         fmt::format("{} is {}, not rows of {} numbers", name, described(file_, inside(name)), words));
  }

  [[nodiscard]] std::vector<std::uint64_t> table(const char* name, std::size_t words) const {
    check_table(name, words);
    std::vector<std::uint64_t> rows(h5::element_count(file_.shape(inside(name))));
    if (!rows.empty()) file_.read(inside(name), std::span(rows));
    return rows;
  }

  void read(std::int64_t place, std::span<std::byte> out) const {
    bytes_.read(place, out);
    advance_(static_cast<std::int64_t>(out.size()));
  }

  void check_rank(int rank, Words part) {
    const auto first = part[part.size() - 3], entries = part[part.size() - 2];
    const auto begin = entries_seen_;
    need((first == begin || entries == 0) && entries <= entries_ - begin,
         fmt::format("rank {} has {} entries from {} on", rank, entries, first));
    entries_seen_ += entries;
    std::vector<std::uint64_t> words(entries * entry_words_);
    const auto row_bytes = static_cast<std::int64_t>(entry_words_) * word_bytes;
    const auto place = cells_place_ + static_cast<std::int64_t>(begin) * row_bytes;
    read(place, std::as_writable_bytes(std::span(words)));
    if (digest_of_values(Words(words)) != part.back())
      return lose_directory(rank, place, place + static_cast<std::int64_t>(entries) * row_bytes);
    check_->begin_rank(part.first(check_->part_words()), entries);
    for (std::size_t at = 0; at < words.size(); at += entry_words_)
      check_cell(rank, Words(words).subspan(at, entry_words_));
    check_->end_rank();
  }

  /// Nobody knows how many elements the cells of a damaged directory have.
  void lose_directory(int rank, std::int64_t begin, std::int64_t end) {
    elements_seen_.reset();
    storage_.words_seen.reset();
    found_.push_back(
        {.part = "directory",
         .problem = fmt::format(
             "the directory of rank {} is not what was written; its cells were not looked at", rank),
         .set = path_,
         .rank = rank,
         .begin = begin,
         .end = end});
  }

  void check_cell(int rank, Words entry) {
    const auto first = entry[entry.size() - 3], count = entry[entry.size() - 2];
    const auto all = static_cast<std::uint64_t>(storage_.elements.count());
    need((!elements_seen_ || *elements_seen_ == first) && count <= all && first <= all - count,
         fmt::format("a cell of rank {} has {} elements from {} on", rank, count, first));
    check_->check_cell(entry.first(check_->cell_words()), count);
    elements_seen_ = first + count;
    const auto [begin, end] = bytes_of(entry);
    stored_.resize(static_cast<std::size_t>(end - begin));
    read(begin, stored_);
    const auto cell = plain(entry);
    if (digest_of(cell) == entry.back()) return check_->add(cell, entry.back());
    found_.push_back({.part = "cell",
                      .problem = "not what was written",
                      .set = path_,
                      .cell = check_->name_of(entry.first(check_->cell_words())),
                      .rank = rank,
                      .begin = begin,
                      .end = end});
  }

  /// The bytes of the file that a cell has.
  std::pair<std::int64_t, std::int64_t> bytes_of(Words entry) {
    const auto first = static_cast<std::int64_t>(entry[entry.size() - 3]);
    const auto count = static_cast<std::int64_t>(entry[entry.size() - 2]);
    const auto size = storage_.elements.bytes_each();
    if (!storage_.compressed) return {data_place_ + first * size, data_place_ + (first + count) * size};
    const auto begin = entry[entry.size() - 6], words = entry[entry.size() - 5];
    const auto most = whole_words(static_cast<std::size_t>(count * size)) / word_bytes;
    auto& seen = storage_.words_seen;
    need((!seen || *seen == begin) && words > 0 && words <= most && words <= storage_.words &&
             begin <= storage_.words - words,
         fmt::format("a cell has {} stored words from {} on", words, begin));
    seen = begin + words;
    const auto place = data_place_ + static_cast<std::int64_t>(begin) * word_bytes;
    return {place, place + static_cast<std::int64_t>(words) * word_bytes};
  }

  /// The cell that the stored bytes represent; nothing if they are not what was written.
  std::span<const std::byte> plain(Words entry) {
    if (!storage_.compressed) return stored_;
    if (digest_of(stored_) != entry[entry.size() - 4]) return {};
    const auto size = static_cast<std::size_t>(storage_.elements.bytes_each());
    if (!decompressor_) decompressor_ = std::make_unique<CellDecompressor>(size);
    return decompressor_->restore(stored_, static_cast<std::size_t>(entry[entry.size() - 2]) * size);
  }

  void finish() {
    const auto count = static_cast<std::uint64_t>(storage_.elements.count());
    need(elements_seen_ == count,
         fmt::format("cells have {} of {} elements", elements_seen_.value_or(0), count));
    need(!storage_.compressed || storage_.words_seen == storage_.words, "data has words that no cell has");
    check_->end();
    if (check_->sum() == reported_.sum) return;
    found_.push_back({.part = "sum",
                      .problem = fmt::format("the sum is {}, the manifest says {}", hex(check_->sum()),
                                             hex(reported_.sum)),
                      .set = path_});
  }

  const h5::File& file_;
  const InputFile& bytes_;
  const Advance& advance_;
  std::vector<Damage>& found_;
  std::size_t found_before_;
  std::string path_;
  Manifest::Set reported_;
  Storage storage_;
  std::unique_ptr<SetCheck> check_;
  std::vector<std::uint64_t> parts_;
  std::size_t entry_words_ = 0;
  std::uint64_t entries_ = 0, entries_seen_ = 0;
  std::optional<std::uint64_t> elements_seen_ = 0;
  std::int64_t data_place_ = 0, cells_place_ = 0;
  std::vector<std::byte> stored_;
  std::unique_ptr<CellDecompressor> decompressor_;
};

/// Datasets of the file under one of its groups, such as "/values/".
std::vector<std::string> under(const h5::File& file, const std::string& group) {
  auto paths = file.dataset_paths();
  std::erase_if(paths, [&](const std::string& path) { return !path.starts_with(group); });
  return paths;
}

/// "solver" of "/values/solver/seed".
std::string component_of(const std::string& path, std::size_t behind) {
  return path.substr(behind, path.find('/', behind) - behind);
}

void check_components(const h5::File& file, std::vector<Damage>& found) {
  std::set<std::string> used;
  for (const std::string group : {"/values/", "/texts/", "/sets/"})
    for (const auto& path : under(file, group)) used.insert(component_of(path, group.size()));
  for (const auto& path : under(file, "/components/"))
    if (file.type(path) != ElementType::int64 || file.shape(path) != h5::Shape{1})
      found.push_back({"values", fmt::format("{} is {}, not one int64", path, described(file, path))});
  for (const auto& component : used)
    if (const auto path = "/components/" + component; !file.has_dataset(path))
      found.push_back({"values", fmt::format("{} is missing", path)});
}

void check_values(const h5::File& file, std::vector<Damage>& found) {
  for (const auto& path : under(file, "/values/"))
    if (file.type(path) == ElementType::other || file.type(path) == ElementType::float32 ||
        file.shape(path).size() != 1)
      found.push_back(
          {"values", fmt::format("{} is {}, not a list of 64-bit numbers", path, described(file, path))});
  for (const auto& path : under(file, "/texts/")) {
    const auto text = file.text_attribute(path, "text");
    if (file.type(path) != ElementType::uint64 || file.shape(path) != h5::Shape{1} || !text) {
      found.push_back({"values", fmt::format("{} is not one uint64 with the attribute text", path)});
      continue;
    }
    std::uint64_t length = 0;
    file.read(path, std::span(&length, 1));
    if (length != text->size())
      found.push_back(
          {"values", fmt::format("{}: the text has not the {} bytes that it is said to have", path, length)});
  }
}

/// "solver/p" of "/sets/solver/p/data".
std::set<std::string> sets_in(const h5::File& file) {
  std::set<std::string> names;
  const std::string group = "/sets/";
  for (const auto& path : under(file, group))
    names.insert(path.substr(group.size(), path.rfind('/') - group.size()));
  return names;
}

/// The extents hold data and entries of cells: other bytes in them would be under no checksum.
void check_extents(const h5::File& file, const Manifest& manifest, std::vector<Damage>& found) {
  std::int64_t held = 0, stretched = 0;
  for (const auto& [offset, size] : manifest.data) stretched += size;
  for (const auto& name : sets_in(file))
    for (const char* table : {"data", "cells"}) {
      const auto path = fmt::format("/sets/{}/{}", name, table);
      const auto place = file.has_dataset(path) ? file.place(path) : std::nullopt;
      if (!place) continue;
      const auto begin = static_cast<std::int64_t>(*place);
      const auto bytes =
          static_cast<std::int64_t>(h5::element_count(file.shape(path)) * h5::size_bytes(file.type(path)));
      for (const auto& [offset, size] : manifest.data)
        if (offset <= begin && begin + bytes <= offset + size) held += bytes;
    }
  if (stretched != held)
    found.push_back(
        {"rest", fmt::format("{} bytes of the manifest's data are in no set, and under no checksum",
                             stretched - held)});
}

void check_set(const h5::File& file, const InputFile& bytes, const Manifest& manifest,
               const std::string& name, const Advance& advance, std::vector<Damage>& found) {
  try {
    SetWalk(file, bytes, manifest, name, advance, found).run();
  } catch (const Contradiction& wrong) {
    found.push_back({.part = "directory", .problem = wrong.what(), .set = name});
  }
}

void check_sets(const h5::File& file, const InputFile& bytes, const Manifest& manifest,
                const Advance& advance, std::vector<Damage>& found) {
  const auto held = sets_in(file);
  for (const auto& name : held)
    if (!manifest.sets.contains(name))
      found.push_back({.part = "set", .problem = "it is not in the manifest", .set = name});
  for (const auto& [name, reported] : manifest.sets) {
    if (held.contains(name))
      check_set(file, bytes, manifest, name, advance, found);
    else
      found.push_back({.part = "set", .problem = "it is not in the file", .set = name});
  }
}

/// The manifest of a checkpoint; nothing if the bytes of the file outside its data are damaged.
std::optional<Manifest> manifest_of(const std::string& checkpoint) {
  try {
    return read_manifest(checkpoint);
  } catch (const Error& error) {
    if (error.info().kind != ErrorKind::input) throw;
    return std::nullopt;
  }
}

}  // namespace

std::vector<Damage> verify(const std::string& checkpoint, const Advance& advance) {
  const auto manifest = manifest_of(checkpoint);
  // Where these bytes are damaged HDF5 must not be let near them.
  if (!manifest)
    return {
        {"rest", "bytes outside of the data are not those that were written; its sets were not looked at"}};
  const auto path = fmt::format("{}/{}", checkpoint, state_file);
  if (manifest->compressed && !has_zstd())
    throw file_error(path, "is compressed, and this build has no zstd", "build with libzstd-dev");
  std::vector<Damage> found;
  try {
    const InputFile bytes(path, remedy);
    const auto file = h5::File::open(path);
    check_components(file, found);
    check_values(file, found);
    check_sets(file, bytes, *manifest, advance, found);
    check_extents(file, *manifest, found);
  } catch (const Error& error) {
    found.push_back({"rest", fmt::format("it was not written as HDF5: {}", error.info().message)});
  }
  return found;
}

}  // namespace tailrace::checkpoint
