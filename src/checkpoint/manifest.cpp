#include "manifest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "digest.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/base/files.hpp"

namespace tailrace::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "tailrace checkpoint";
constexpr int version = 1;
constexpr const char* no_digest = "0000000000000000";

/// Digest of all bytes of a file outside the stretches, which ascend.
std::uint64_t digest_of_rest(const InputFile& file,
                             const std::vector<std::pair<std::int64_t, std::int64_t>>& stretches) {
  Digest digest;
  std::vector<std::byte> piece;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t most = 1 << 20;
    for (; begin < end; begin += most) {
      piece.resize(static_cast<std::size_t>(std::min(most, end - begin)));
      file.read(begin, piece);
      digest.add(piece);
    }
  };
  std::int64_t at = 0;
  for (const auto& [offset, bytes] : stretches) {
    add(at, offset);
    at = offset + bytes;
  }
  add(at, file.size_bytes());
  return digest.take();
}

/// The text with the digest of itself put in.
std::string sealed(std::string text) {
  const auto place = text.rfind(no_digest);
  text.replace(place, std::strlen(no_digest), hex(digest_of(std::as_bytes(std::span(text)))));
  return text;
}

Json to_json(const Manifest& manifest) {
  auto sets = Json::object();
  for (const auto& [path, set] : manifest.sets) sets[path] = {{"count", set.count}, {"sum", hex(set.sum)}};
  auto data = Json::array();
  for (const auto& [offset, bytes] : manifest.data) data.push_back({offset, bytes});
  return {{"format", format},
          {"version", version},
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

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorInfo{
      .kind = ErrorKind::input, .message = fmt::format("{}: {}", path, what), .path = path, .hint = remedy});
}

std::uint64_t number_of(const std::string& digits) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (code != std::errc() || end != digits.data() + digits.size() || digits.size() != 16)
    throw std::invalid_argument("a digest");
  return number;
}

Manifest from_json(const Json& json) {
  Manifest manifest{.simulation = json.at("simulation"),
                    .program = json.at("program"),
                    .step = json.at("step"),
                    .time_s = json.at("time_s"),
                    .ranks = json.at("ranks"),
                    .created = json.at("created"),
                    .file_bytes = json.at("file").at("bytes"),
                    .data = json.at("data").get<std::vector<std::pair<std::int64_t, std::int64_t>>>(),
                    .rest = number_of(json.at("rest")),
                    .sets = {}};
  for (const auto& [path, set] : json.at("sets").items())
    manifest.sets[path] = {.count = set.at("count"), .sum = number_of(set.at("sum"))};
  return manifest;
}

/// The text as it was before it was sealed, and whether its digest is that of this text.
bool is_sound(std::string text, const Json& json) {
  const std::string told = json.value("xxh3", "");
  const auto place = text.rfind(told);
  if (told.size() != std::strlen(no_digest) || place == std::string::npos) return false;
  text.replace(place, told.size(), no_digest);
  return hex(digest_of(std::as_bytes(std::span(text)))) == told;
}

Manifest parse(const std::string& path, const std::string& text) {
  try {
    const auto json = Json::parse(text);
    if (json.value("format", "") != format) refuse(path, "is no manifest of a checkpoint");
    if (!is_sound(text, json)) refuse(path, "is damaged: its checksum is not that of its text");
    if (const int found = json.at("version"); found != version)
      refuse(path,
             fmt::format("has version {} of the format, this program knows version {}", found, version));
    return from_json(json);
  } catch (const Json::exception& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  }
}

}  // namespace

Manifest read_manifest(const std::string& checkpoint) {
  const auto path = fmt::format("{}/{}", checkpoint, manifest_file);
  constexpr std::int64_t longest = 256 << 20;
  const InputFile file(path, remedy);
  if (file.size_bytes() > longest) refuse(path, "is no manifest of a checkpoint");
  std::string text(static_cast<std::size_t>(file.size_bytes()), ' ');
  file.read(0, std::as_writable_bytes(std::span(text)));
  auto manifest = parse(path, text);
  const auto state_path = fmt::format("{}/{}", checkpoint, state_file);
  const InputFile state(state_path, remedy);
  if (state.size_bytes() != manifest.file_bytes)
    refuse(state_path, fmt::format("has {} bytes instead of {}", state.size_bytes(), manifest.file_bytes));
  if (digest_of_rest(state, manifest.data) != manifest.rest)
    refuse(state_path, "is damaged outside the data of its fields and records");
  return manifest;
}

void write_manifest(const std::string& checkpoint, Manifest manifest) {
  const InputFile state(fmt::format("{}/{}", checkpoint, state_file), remedy);
  manifest.file_bytes = state.size_bytes();
  std::sort(manifest.data.begin(), manifest.data.end());
  manifest.rest = digest_of_rest(state, manifest.data);
  const auto path = fmt::format("{}/{}", checkpoint, manifest_file), place = path + ".tmp";
  write_durably(place, sealed(to_json(manifest).dump(1) + "\n"));
  replace_file(place, path);
}

}  // namespace tailrace::checkpoint
