// SPDX-License-Identifier: BSD-3-Clause
#include "part.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "base/files.hpp"
#include "digest.hpp"
#include "manifest.hpp"
#include "sealed_json.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* part_format = "tailrace checkpoint part";
constexpr int part_version = 2;

Json to_json(const h5::DatasetSpec& spec) {
  auto attributes = Json::object();
  for (const auto& attribute : spec.attributes)
    attributes[attribute.name] = std::get<std::string>(attribute.value);
  return {{"path", spec.path},
          {"shape", spec.shape},
          {"type", h5::to_string(spec.type)},
          {"attributes", attributes}};
}

h5::DatasetSpec spec_of(const Json& json) {
  h5::DatasetSpec spec{json.at("path"), json.at("shape").get<h5::Shape>(), h5::ElementType::other, {}};
  for (const auto type :
       {h5::ElementType::float32, h5::ElementType::float64, h5::ElementType::int64, h5::ElementType::uint64})
    if (json.at("type") == h5::to_string(type)) spec.type = type;
  for (const auto& [name, text] : json.at("attributes").items())
    spec.attributes.push_back({.name = name, .value = text.get<std::string>()});
  return spec;
}

Json to_json(const output::StaticDataset& dataset) {
  auto json = to_json(dataset.spec);
  std::vector<std::uint64_t> words(dataset.values.size() / word_bytes);
  if (!words.empty()) std::memcpy(words.data(), dataset.values.data(), words.size() * word_bytes);
  json["words"] = words;
  return json;
}

output::StaticDataset dataset_of(const Json& json) {
  const auto words = json.at("words").get<std::vector<std::uint64_t>>();
  const auto bytes = std::as_bytes(std::span(words));
  return {spec_of(json), {bytes.begin(), bytes.end()}};
}

Json to_json(const Share& share) {
  return {share.first, share.own, share.all};
}

Share share_of(const Json& json) {
  return {json.at(0), json.at(1), json.at(2)};
}

Json to_json(const Part::Set& set) {
  return {{"data", to_json(set.data)},
          {"bytes_each", set.bytes_each},
          {"entry_words", set.entry_words},
          {"compressed", set.compressed},
          {"count", to_json(set.count)},
          {"stored", to_json(set.stored)},
          {"entries", to_json(set.entries)},
          {"row", set.row},
          {"sum", hex(set.sum)}};
}

Part::Set set_of(const Json& json) {
  return {.data = spec_of(json.at("data")),
          .bytes_each = json.at("bytes_each"),
          .entry_words = json.at("entry_words"),
          .compressed = json.at("compressed"),
          .count = share_of(json.at("count")),
          .stored = share_of(json.at("stored")),
          .entries = share_of(json.at("entries")),
          .row = json.at("row").get<std::vector<std::uint64_t>>(),
          .sum = number_of(json.at("sum"))};
}

Part part_from(const std::string& path, const Json& json) {
  try {
    Part part{.run = json.at("run"),
              .origin = {.simulation = json.at("simulation"),
                         .program = json.at("program"),
                         .step = json.at("step"),
                         .time_s = json.at("time_s")},
              .rank = json.at("rank"),
              .ranks = json.at("ranks"),
              .created = json.at("created"),
              .head = {},
              .sets = {}};
    for (const auto& dataset : json.at("head")) part.head.push_back(dataset_of(dataset));
    for (const auto& set : json.at("sets")) part.sets.push_back(set_of(set));
    place_in_file(part);
    return part;
  } catch (const Json::exception& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  }
}

void verify_set(const InputFile& file, const Part::Set& set) {
  const auto damaged = [&](const std::string& what) {
    refuse(file.path(), fmt::format("{}: {} is damaged", set.name(), what));
  };
  std::vector<std::uint64_t> entries(static_cast<std::size_t>(set.entries_bytes() / word_bytes));
  file.read(set.entries_at, std::as_writable_bytes(std::span(entries)));
  if (digest_of_values(std::span<const std::uint64_t>(entries)) != set.row.back())
    damaged("the directory of its cells");
  std::vector<std::byte> cell;
  std::int64_t at = set.data_at;
  for (std::size_t last = set.entry_words; last <= entries.size(); last += set.entry_words) {
    const auto bytes = set.compressed ? entries[last - 5] * word_bytes
                                      : entries[last - 2] * static_cast<std::uint64_t>(set.bytes_each);
    cell.resize(static_cast<std::size_t>(bytes));
    file.read(at, cell);
    if (digest_of(cell) != entries[last - (set.compressed ? 4 : 1)])
      damaged(fmt::format("a cell at byte {}", at));
    at += static_cast<std::int64_t>(cell.size());
  }
}

}  // namespace

std::string Part::Set::name() const {
  constexpr std::size_t before = 6, behind = 5;  // "/sets/" and "/data"
  return data.path.substr(before, data.path.size() - before - behind);
}

std::int64_t Part::Set::entry_bytes() const noexcept {
  return static_cast<std::int64_t>(entry_words) * word_bytes;
}

void place_in_file(Part& part) {
  part.bytes = 0;
  for (auto& set : part.sets) {
    set.data_at = part.bytes;
    part.bytes += set.stored.own;
  }
  for (auto& set : part.sets) {
    set.entries_at = part.bytes;
    part.bytes += set.entries_bytes();
  }
}

std::string to_text(const Part& part) {
  auto head = Json::array(), sets = Json::array();
  for (const auto& dataset : part.head) head.push_back(to_json(dataset));
  for (const auto& set : part.sets) sets.push_back(to_json(set));
  return sealed({{"format", part_format},
                 {"version", part_version},
                 {"run", part.run},
                 {"simulation", part.origin.simulation},
                 {"program", part.origin.program},
                 {"step", part.origin.step},
                 {"time_s", part.origin.time_s},
                 {"rank", part.rank},
                 {"ranks", part.ranks},
                 {"created", part.created},
                 {"head", head},
                 {"sets", sets},
                 {"xxh3", no_digest}});
}

Part part_of(const std::string& path, const std::string& text) {
  return part_from(path, parse_sealed(path, text, part_format, part_version));
}

Part read_part(const std::string& path) {
  return part_from(path, read_sealed(path, part_format, part_version));
}

void verify(const Part& part, const std::string& data_path) {
  const InputFile file(data_path, remedy);
  if (file.size_bytes() != part.bytes)
    refuse(data_path, fmt::format("has {} bytes instead of {}", file.size_bytes(), part.bytes));
  for (const auto& set : part.sets) verify_set(file, set);
}

}  // namespace tailrace::checkpoint
