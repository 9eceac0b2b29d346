// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/filter.hpp"

#include <zlib.h>

#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// The first bytes of all elements, then the second ones, and so on: of numbers that resemble each other the
/// leading bytes are equal.
std::vector<std::byte> shuffled(std::span<const std::byte> chunk, std::size_t element_bytes) {
  std::vector<std::byte> out(chunk.size());
  const std::size_t count = chunk.size() / element_bytes;
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < count; ++i) out[byte * count + i] = chunk[i * element_bytes + byte];
  return out;
}

/// Nothing if the result would be no shorter.
std::vector<std::byte> deflated(std::span<const std::byte> chunk, int level) {
  std::vector<std::byte> out(chunk.size());
  uLongf length = out.size();
  const int code = compress2(reinterpret_cast<Bytef*>(out.data()), &length,
                             reinterpret_cast<const Bytef*>(chunk.data()), chunk.size(), level);
  if (code == Z_MEM_ERROR) throw Error(ErrorKind::resource, "not enough memory to compress a chunk");
  out.resize(code == Z_OK ? length : 0);
  out.shrink_to_fit();
  return out;
}

}  // namespace

FilteredChunk filter_chunk(std::span<const std::byte> chunk, std::size_t element_bytes,
                           const h5::ChunkLayout& layout, int level) {
  FilteredChunk result;
  if (layout.deflate >= 0) {
    const auto bytes = layout.shuffle ? shuffled(chunk, element_bytes) : std::vector<std::byte>();
    result.bytes = deflated(layout.shuffle ? std::span<const std::byte>(bytes) : chunk, level);
  }
  return result.bytes.empty() ? unfiltered_chunk(chunk, layout) : result;
}

FilteredChunk unfiltered_chunk(std::span<const std::byte> chunk, const h5::ChunkLayout& layout) {
  return {.bytes = {chunk.begin(), chunk.end()},
          .skipped = (1U << static_cast<unsigned>(layout.filters())) - 1};
}

}  // namespace tailrace::output
