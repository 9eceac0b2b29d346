// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "h5/chunked.hpp"

namespace tailrace::output {

/// A chunk unchanged in the file.
struct FilteredChunk {
  std::vector<std::byte> bytes;
  std::uint32_t skipped = 0;  ///< filters that were not applied, as HDF5 counts them
};

/// Applies the filters of `layout` to a whole chunk of elements of `element_bytes`, deflate with `level`. A
/// chunk that does not shrink is left as it is. @local. Errors (resource): memory.
FilteredChunk filter_chunk(std::span<const std::byte> chunk, std::size_t element_bytes,
                           const h5::ChunkLayout& layout, int level);

/// The chunk as it is, for a dataset with these filters. @local
FilteredChunk unfiltered_chunk(std::span<const std::byte> chunk, const h5::ChunkLayout& layout);

}  // namespace tailrace::output
