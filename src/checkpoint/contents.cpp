// SPDX-License-Identifier: BSD-3-Clause
#include "contents.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "base/text.hpp"
#include "h5/file.hpp"
#include "row_type.hpp"
#include "tailrace/error.hpp"
#include "zstd.hpp"

namespace tailrace::checkpoint {

namespace {

using Json = nlohmann::json;

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

[[noreturn]] void refuse(const h5::File& file, const std::string& what) {
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("{}: {}", file.path(), what),
                        .path = file.path(),
                        .hint = remedy});
}

bool is_compressed(const h5::File& file, const std::string& data) {
  const auto name = attribute(file, data, "compression");
  if (name.empty()) return false;
  if (name != "zstd")
    refuse(file, fmt::format("{} has the compression \"{}\", which is not known", data, name));
  if (!has_zstd())
    refuse(file,
           fmt::format("{} is compressed, and this build has no zstd: install libzstd-dev and build again",
                       data));
  return true;
}

h5::ElementType type_of(const h5::File& file, const std::string& data) {
  const auto name = attribute(file, data, "type");
  for (const auto type : {h5::ElementType::float32, h5::ElementType::float64, h5::ElementType::uint64})
    if (name == numpy_name(type)) return type;
  refuse(file, fmt::format("{} has elements of type \"{}\", which is not known", data, name));
}

std::int64_t values_each(const h5::File& file, const std::string& data) {
  const auto digits = attribute(file, data, "values_each");
  const auto count = parse_number<std::int64_t>(digits).value_or(0);
  if (count < 1) refuse(file, fmt::format("{}: values_each is \"{}\", not a count", data, digits));
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

std::vector<std::uint8_t> to_bytes(const Contents& contents) {
  Json numbers = Json::object(), sets = Json::object();
  for (const auto& [path, value] : contents.numbers)
    numbers[path] = {{"type", static_cast<int>(value.type)}, {"bits", value.bits}};
  for (const auto& [path, set] : contents.sets)
    sets[path] = {{"kind", set.kind},
                  {"compressed", set.compressed},
                  {"type", static_cast<int>(set.type)},
                  {"values_each", set.values_each},
                  {"count", set.count},
                  {"extents", set.extents},
                  {"record_type", set.row_type},
                  {"data_place", set.data_place},
                  {"cells_place", set.cells_place},
                  {"parts", set.parts},
                  {"sum", set.sum}};
  return Json::to_cbor(Json{
      {"components", contents.components}, {"numbers", numbers}, {"texts", contents.texts}, {"sets", sets}});
}

Contents contents_of(const std::vector<std::uint8_t>& bytes) {
  const auto json = Json::from_cbor(bytes);
  Contents contents;
  contents.components = json.at("components").get<std::map<std::string, int>>();
  contents.texts = json.at("texts").get<std::map<std::string, std::string>>();
  for (const auto& [path, value] : json.at("numbers").items())
    contents.numbers[path] = {.type = static_cast<h5::ElementType>(value.at("type").get<int>()),
                              .bits = value.at("bits").get<std::vector<std::uint64_t>>()};
  for (const auto& [path, set] : json.at("sets").items())
    contents.sets[path] = {.kind = set.at("kind"),
                           .compressed = set.at("compressed"),
                           .type = static_cast<h5::ElementType>(set.at("type").get<int>()),
                           .values_each = set.at("values_each"),
                           .count = set.at("count"),
                           .extents = set.at("extents"),
                           .row_type = set.at("record_type"),
                           .data_place = set.at("data_place"),
                           .cells_place = set.at("cells_place"),
                           .parts = set.at("parts").get<std::vector<std::uint64_t>>(),
                           .sum = set.at("sum")};
  return contents;
}

}  // namespace tailrace::checkpoint
