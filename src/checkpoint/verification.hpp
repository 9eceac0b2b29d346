// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tailrace::checkpoint {

/// Something in the file of a checkpoint that is not as it was written.
struct Damage {
  std::string part;  ///< says what it concerns: length, rest, values, set, directory (of cells), cell or sum
  std::string problem;
  std::string set = {}, cell = {};  ///< empty where it concerns none
  int rank = -1;                    ///< that wrote the cell or directory; -1 where it concerns none
  std::int64_t begin = 0, end = 0;  ///< bytes of the file; equal where it has no place
};

/// Receives the number of bytes that were read.
using Advance = std::function<void(std::int64_t)>;

/// Reads every byte of a checkpoint, compares all checksums, and sees that what fits its checksums makes
/// sense too. Returns all damage of the file, whose manifest and length fit. Errors (input): this build lacks
/// zstd.
/// @local
std::vector<Damage> verify(const std::string& checkpoint, const Advance& advance);

}  // namespace tailrace::checkpoint
