// SPDX-License-Identifier: BSD-3-Clause
#include "contents.hpp"

#include <fmt/format.h>

#include <span>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "h5/file.hpp"
#include "row_type.hpp"
#include "zstd.hpp"

namespace tailrace::checkpoint {

namespace {

/// "solver/p" of "/values/solver/p"; empty if the path is of something else.
std::string name_under(const std::string& group, const std::string& path) {
  return path.starts_with(group) ? path.substr(group.size()) : "";
}

std::vector<std::uint64_t> words_of(const h5::File& file, const std::string& path) {
  std::vector<std::uint64_t> words(h5::element_count(file.shape(path)));
  if (!words.empty()) file.read(path, std::span(words));
  return words;
}

Contents::Numbers numbers_of(const h5::File& file, const std::string& path) {
  Contents::Numbers numbers{.type = file.type(path), .bits = {}};
  numbers.bits.resize(h5::element_count(file.shape(path)));
  const auto bytes = std::as_writable_bytes(std::span(numbers.bits));
  if (!bytes.empty()) file.read_range(path, 0, numbers.bits.size(), numbers.type, bytes);
  return numbers;
}

std::string attribute(const h5::File& file, const std::string& path, const char* name) {
  return file.text_attribute(path, name).value_or("");
}

std::int64_t place_of(const h5::File& file, const std::string& path) {
  return static_cast<std::int64_t>(file.place(path).value_or(0));
}

bool is_compressed(const h5::File& file, const std::string& data) {
  const auto name = attribute(file, data, "compression");
  if (name.empty()) return false;
  if (name != "zstd")
    refuse(file.path(), fmt::format("{} has the compression \"{}\", which is not known", data, name));
  if (!has_zstd())
    refuse(file.path(),
           fmt::format("{} is compressed, and this build has no zstd: install libzstd-dev and build again",
                       data));
  return true;
}

h5::ElementType type_of(const h5::File& file, const std::string& data) {
  const auto name = attribute(file, data, "type");
  for (const auto type : {h5::ElementType::float32, h5::ElementType::float64, h5::ElementType::uint64})
    if (name == numpy_name(type)) return type;
  refuse(file.path(), fmt::format("{} has elements of type \"{}\", which is not known", data, name));
}

std::int64_t values_each(const h5::File& file, const std::string& data) {
  const auto digits = attribute(file, data, "values_each");
  const auto count = parse_number<std::int64_t>(digits).value_or(0);
  if (count < 1) refuse(file.path(), fmt::format("{}: values_each is \"{}\", not a count", data, digits));
  return count;
}

Contents::Set set_of(const h5::File& file, const std::string& path, const Manifest::Set& reported) {
  const auto data = fmt::format("/sets/{}/data", path), cells = fmt::format("/sets/{}/cells", path);
  const auto shape = file.shape(data);
  const bool compressed = is_compressed(file, data);
  return {.kind = attribute(file, data, "kind"),
          .compressed = compressed,
          .type = compressed ? type_of(file, data) : file.type(data),
          .values_each = compressed         ? values_each(file, data)
                         : shape.size() > 1 ? static_cast<std::int64_t>(shape[1])
                                            : 1,
          .count = reported.count,
          .extents = attribute(file, data, "extents"),
          .row_type = attribute(file, data, "record_type"),
          .data_place = place_of(file, data),
          .cells_place = place_of(file, cells),
          .parts = words_of(file, fmt::format("/sets/{}/parts", path)),
          .sum = reported.sum};
}

// What travels of each type, in one place for both directions: `archive` is a Packer or an Unpacker.

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, int>& version) {
  archive(version);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, std::string>& text) {
  archive(text);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, Contents::Numbers>& numbers) {
  archive(numbers.type, numbers.bits);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, Contents::Set>& set) {
  archive(set.kind, set.compressed, set.type, set.values_each, set.count, set.extents, set.row_type,
          set.data_place, set.cells_place, set.parts, set.sum);
}

template <class T>
void named(Packer& packer, const std::map<std::string, T>& values) {
  packer(values.size());
  for (const auto& [name, value] : values) {
    packer(name);
    fields(packer, value);
  }
}
template <class T>
void named(Unpacker& unpacker, std::map<std::string, T>& values) {
  for (auto count = unpacker.get<std::size_t>(); count > 0; --count) {
    const auto name = unpacker.get<std::string>();
    fields(unpacker, values[name]);
  }
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, Contents>& contents) {
  named(archive, contents.components);
  named(archive, contents.numbers);
  named(archive, contents.texts);
  named(archive, contents.sets);
}

}  // namespace

Contents read_contents(const std::string& checkpoint, const Manifest& manifest) {
  const auto file = h5::File::open(fmt::format("{}/{}", checkpoint, state_file));
  Contents contents;
  for (const auto& path : file.dataset_paths()) {
    if (const auto name = name_under("/components/", path); !name.empty())
      contents.components[name] = static_cast<int>(words_of(file, path).at(0));
    if (const auto name = name_under("/values/", path); !name.empty())
      contents.numbers[name] = numbers_of(file, path);
    if (const auto name = name_under("/texts/", path); !name.empty())
      contents.texts[name] = attribute(file, path, "text");
  }
  for (const auto& [path, reported] : manifest.sets) contents.sets[path] = set_of(file, path, reported);
  return contents;
}

std::vector<std::byte> to_bytes(const Contents& contents) {
  Packer packer;
  fields(packer, contents);
  return packer.take();
}

Contents contents_of(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  Contents contents;
  fields(unpacker, contents);
  return contents;
}

}  // namespace tailrace::checkpoint
