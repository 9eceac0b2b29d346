// SPDX-License-Identifier: BSD-3-Clause
#include "manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/files.hpp"
#include "digest.hpp"
#include "h5/file.hpp"
#include "sealed_json.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "tailrace checkpoint";
constexpr int plain_version = 1, compressed_version = 2;

/// Digest of all bytes of a file outside the extents, which ascend.
std::uint64_t digest_of_rest(const InputFile& file,
                             const std::vector<std::pair<std::int64_t, std::int64_t>>& extents) {
  Digest digest;
  std::vector<std::byte> share;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t most = 1 << 20;
    for (; begin < end; begin += most) {
      share.resize(static_cast<std::size_t>(std::min(most, end - begin)));
      file.read(begin, share);
      digest.add(share);
    }
  };
  std::int64_t at = 0;
  for (const auto& [offset, bytes] : extents) {
    add(at, offset);
    at = offset + bytes;
  }
  add(at, file.size_bytes());
  return digest.take();
}

Json to_json(const Manifest& manifest) {
  auto sets = Json::object();
  for (const auto& [path, set] : manifest.sets) sets[path] = {{"count", set.count}, {"sum", hex(set.sum)}};
  auto data = Json::array();
  for (const auto& [offset, bytes] : manifest.data) data.push_back({offset, bytes});
  return {{"format", format},
          {"version", manifest.compressed ? compressed_version : plain_version},
          {"simulation", manifest.simulation},
          {"program", manifest.program},
          {"step", manifest.step},
          {"time_s", manifest.time_s},
          {"ranks", manifest.ranks},
          {"created", manifest.created},
          {"file", {{"name", state_file}, {"bytes", manifest.file_bytes}}},
          {"data", data},
          {"rest", hex(manifest.rest)},
          {"sets", sets},
          {"xxh3", no_digest}};
}

Manifest manifest_from(const std::string& path, const Json& json) {
  try {
    Manifest manifest{.simulation = json.at("simulation"),
                      .program = json.at("program"),
                      .step = json.at("step"),
                      .time_s = json.at("time_s"),
                      .ranks = json.at("ranks"),
                      .created = json.at("created"),
                      .compressed = json.at("version") == compressed_version,
                      .file_bytes = json.at("file").at("bytes"),
                      .data = json.at("data").get<std::vector<std::pair<std::int64_t, std::int64_t>>>(),
                      .rest = number_of(json.at("rest")),
                      .sets = {}};
    for (const auto& [name, set] : json.at("sets").items())
      manifest.sets[name] = {.count = set.at("count"), .sum = number_of(set.at("sum"))};
    return manifest;
  } catch (const Json::exception& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  }
}

/// Returns where the data and the directories of all sets lie in the file, ascending.
std::vector<std::pair<std::int64_t, std::int64_t>> extents_of(const std::string& path,
                                                              const Manifest& manifest) {
  std::vector<std::pair<std::int64_t, std::int64_t>> extents;
  const auto file = h5::File::open(path);
  for (const auto& [set, reported] : manifest.sets)
    for (const char* name : {"data", "cells"}) {
      const auto dataset = fmt::format("/sets/{}/{}", set, name);
      const auto bytes = h5::element_count(file.shape(dataset)) * h5::size_bytes(file.type(dataset));
      if (const auto place = file.place(dataset); place && bytes > 0) extents.emplace_back(*place, bytes);
    }
  std::sort(extents.begin(), extents.end());
  return extents;
}

}  // namespace

void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorInfo{
      .kind = ErrorKind::input, .message = fmt::format("{}: {}", path, what), .path = path, .hint = remedy});
}

Manifest read_manifest(const std::string& checkpoint) {
  const auto path = fmt::format("{}/{}", checkpoint, manifest_file);
  auto manifest = manifest_from(path, read_sealed(path, format, compressed_version));
  const auto state_path = fmt::format("{}/{}", checkpoint, state_file);
  const InputFile state(state_path, remedy);
  if (state.size_bytes() != manifest.file_bytes)
    refuse(state_path, fmt::format("has {} bytes instead of {}", state.size_bytes(), manifest.file_bytes));
  if (digest_of_rest(state, manifest.data) != manifest.rest)
    refuse(state_path, "is damaged outside the data of its fields and rows");
  return manifest;
}

void write_manifest(const std::string& checkpoint, Manifest manifest) {
  const auto state_path = fmt::format("{}/{}", checkpoint, state_file);
  const InputFile state(state_path, remedy);
  manifest.file_bytes = state.size_bytes();
  manifest.data = extents_of(state_path, manifest);
  manifest.rest = digest_of_rest(state, manifest.data);
  const auto path = fmt::format("{}/{}", checkpoint, manifest_file), place = path + ".tmp";
  write_durably(place, sealed(to_json(manifest)));
  replace_file(place, path);
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace tailrace::checkpoint
