#pragma once

#include <string>

namespace tailrace::checkpoint {

/// How the cells of a checkpoint are stored.
struct Compression {
  int zstd_level = 0;  ///< 1 (fast) to 19 (small); 0: they are stored as they are

  [[nodiscard]] bool wanted() const noexcept { return zstd_level > 0; }
};

/// Reads "none", "zstd" or "zstd:LEVEL"; `name` stands in messages for where the text comes from. Errors
/// (usage): it is none of these, or this build has no zstd. @local
Compression parse_compression(const char* name, const std::string& text);
/// The text that is read as this. @local
std::string compression_text(const Compression& compression);

}  // namespace tailrace::checkpoint
