// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/checkpoint_options.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/text.hpp"
#include "tailrace/error.hpp"
#include "zstd.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr int default_level = 1, highest_level = 19;

[[noreturn]] void refuse_option(const std::string& what, const std::string& fix) {
  throw Error(ErrorInfo{.kind = ErrorKind::usage, .message = what, .path = {}, .hint = fix});
}

}  // namespace

Compression parse_compression(const char* name, const std::string& text) {
  constexpr std::string_view zstd = "zstd", with_level = "zstd:";
  if (text == "none") return {};
  int level = text == zstd ? default_level : 0;
  if (text.starts_with(with_level))
    level = parse_number<int>(std::string_view(text).substr(with_level.size())).value_or(0);
  if (level < 1 || level > highest_level)
    refuse_option(fmt::format("{} = \"{}\" is not known", name, text),
                  fmt::format("none, zstd or zstd:LEVEL with a level from 1 to {}", highest_level));
  if (!has_zstd())
    refuse_option(fmt::format("{} = \"{}\": this build has no zstd", name, text),
                  "install libzstd-dev and build again, or none");
  return {.zstd_level = level};
}

std::string compression_text(const Compression& compression) {
  return compression.wanted() ? fmt::format("zstd:{}", compression.zstd_level) : "none";
}

}  // namespace tailrace::checkpoint
