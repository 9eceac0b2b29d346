// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tailrace::output {

/// Bytes of a dataset that are neighbours in one of an output's files.
struct FileExtent {
  std::int64_t first = 0, bytes = 0;  ///< in the dataset
  std::size_t file = 0;
  std::int64_t offset = 0;  ///< in the file
};

/// Describes where the bytes of a dataset are: extents one after the other, none if it has no bytes.
using FileExtents = std::vector<FileExtent>;

/// The extents of a dataset that is contiguous.
FileExtents one_extent(std::int64_t offset, std::int64_t bytes);
/// Returns what begins with byte `at` of the dataset and continues to the end of its extent.
FileExtent from_byte(const FileExtents& extents, std::int64_t at);

/// Distributes datasets over raw files: stripes of a dataset go round robin, and each dataset begins in
/// another file than the one before.
class Stripes {
 public:
  /// Over the files numbered 1 to `files`, of which each begins with `head_bytes` of something else.
  /// `stripe_bytes` is a multiple of 64 KiB.
  Stripes(std::size_t files, std::int64_t head_bytes, std::int64_t stripe_bytes);

  /// Finds places for a dataset.
  FileExtents add(std::int64_t bytes);
  /// Bytes of a file so far.
  [[nodiscard]] std::int64_t size(std::size_t file) const { return ends_[file - 1]; }

 private:
  std::vector<std::int64_t> ends_;
  std::int64_t stripe_bytes_;
  std::size_t datasets_ = 0;
};

}  // namespace tailrace::output
