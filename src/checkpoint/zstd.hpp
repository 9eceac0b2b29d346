// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace tailrace::checkpoint {

/// Returns whether this build has zstd. Without it nothing else here may be called.
bool has_zstd() noexcept;

/// Frames of zstd, one after the other, in working memory that stays.
class Zstd {
 public:
  Zstd();
  ~Zstd();
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  /// Makes a frame of `bytes`. Returns its length, 0 if it is longer than `frame`.
  std::size_t compress(std::span<const std::byte> bytes, int level, std::span<std::byte> frame);
  /// Makes `bytes` of the frame at the beginning of `frame`. Returns whether it is one of just so many bytes.
  bool decompress(std::span<const std::byte> frame, std::span<std::byte> bytes);
  /// Of a `Zstd` that compresses so many bytes at a time.
  static std::size_t working_bytes(int level, std::size_t bytes) noexcept;

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace tailrace::checkpoint
