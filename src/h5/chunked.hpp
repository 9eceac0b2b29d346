// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "h5/file.hpp"

namespace tailrace::h5 {

/// Describes how a dataset is cut into chunks and what is done to each of them. Filters are in the file in
/// this order.
struct ChunkLayout {
  Shape chunk;           ///< extents of a chunk, as many as the dataset has
  bool shuffle = false;  ///< bytes of equal weight side by side
  int deflate = -1;      ///< level of zlib, 0 to 9; -1: none
  bool grows = false;    ///< the dataset may become longer in its first index

  [[nodiscard]] int filters() const noexcept { return (shuffle ? 1 : 0) + (deflate >= 0 ? 1 : 0); }
};

/// An open dataset that takes whole chunks, filtered by the caller.
class ChunkedDataset {
 public:
  ChunkedDataset(const File& file, const std::string& dataset);

  /// Puts one chunk, whose first element is at `start`, into the file, in the place of an older one if there
  /// is any. Bit i of `skipped` says readers that the i-th filter was not applied. Errors (io).
  void write_chunk(const Shape& start, std::span<const std::byte> bytes, std::uint32_t skipped);
  /// Makes a dataset that grows longer, unless its first index has `length` values already. Errors (io).
  void grow(std::uint64_t length);

 private:
  Handle handle_;
  Operation operation_;
};

}  // namespace tailrace::h5
