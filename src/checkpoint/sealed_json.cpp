// SPDX-License-Identifier: BSD-3-Clause
#include "sealed_json.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <stdexcept>

#include "base/files.hpp"
#include "base/text.hpp"
#include "digest.hpp"
#include "manifest.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

/// Returns whether the digest in a text is that of the text as it was before it was sealed.
bool is_sound(std::string text, const Json& json) {
  const std::string reported = json.value("xxh3", "");
  const auto place = text.rfind(reported);
  if (reported.size() != std::strlen(no_digest) || place == std::string::npos) return false;
  text.replace(place, reported.size(), no_digest);
  return hex(digest_of(std::as_bytes(std::span(text)))) == reported;
}

}  // namespace

std::string sealed(const Json& description) {
  auto text = description.dump(1) + "\n";
  const auto place = text.rfind(no_digest);
  text.replace(place, std::strlen(no_digest), hex(digest_of(std::as_bytes(std::span(text)))));
  return text;
}

Json read_sealed(const std::string& path, const std::string& format, int newest) {
  constexpr std::int64_t longest = 256 << 20;
  const InputFile file(path, remedy);
  if (file.size_bytes() > longest) refuse(path, fmt::format("is no {}", format));
  std::string text(static_cast<std::size_t>(file.size_bytes()), ' ');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return parse_sealed(path, text, format, newest);
}

Json parse_sealed(const std::string& path, const std::string& text, const std::string& format, int newest) {
  try {
    auto json = Json::parse(text);
    if (json.value("format", "") != format) refuse(path, fmt::format("is no {}", format));
    if (!is_sound(text, json)) refuse(path, "is damaged: its checksum is not that of its text");
    if (const int found = json.at("version"); found > newest)
      refuse(path, fmt::format("has version {} of the format, this program knows version {} and older ones",
                               found, newest));
    return json;
  } catch (const Json::exception& error) {
    refuse(path, fmt::format("is damaged: {}", error.what()));
  }
}

std::uint64_t number_of(const std::string& digits) {
  const auto number = parse_hex(digits);
  if (!number || digits.size() != 16) throw std::invalid_argument("a digest");
  return *number;
}

}  // namespace tailrace::checkpoint
