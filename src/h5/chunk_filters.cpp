// SPDX-License-Identifier: BSD-3-Clause
#include "chunk_filters.hpp"

#include <zlib.h>

#include <algorithm>

namespace tailrace::h5 {

namespace {

constexpr bool has_bit(std::uint32_t bits, unsigned number) noexcept {
  return (bits >> number & 1U) != 0;
}

bool inflate_chunk(std::span<const std::byte> stored, std::span<std::byte> chunk) noexcept {
  uLongf length = chunk.size();
  const int code = uncompress(reinterpret_cast<Bytef*>(chunk.data()), &length,
                              reinterpret_cast<const Bytef*>(stored.data()), stored.size());
  return code == Z_OK && length == chunk.size();
}

/// From the first bytes of all elements, then the second ones, and so on.
void unshuffle(std::span<const std::byte> bytes, std::size_t element_bytes,
               std::span<std::byte> chunk) noexcept {
  const std::size_t count = chunk.size() / element_bytes;
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < count; ++i) chunk[i * element_bytes + byte] = bytes[byte * count + i];
}

}  // namespace

std::optional<ChunkFilters> ChunkFilters::of(hid_t creation, std::size_t element_bytes) {
  ChunkFilters filters(element_bytes);
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(i);
    unsigned flags = 0, settings = 0;
    std::size_t no_values = 0;
    const auto filter = H5Pget_filter2(creation, number, &flags, &no_values, nullptr, 0, nullptr, &settings);
    if (filter == H5Z_FILTER_SHUFFLE && i == 0)
      filters.shuffle_ = number;
    else if (filter == H5Z_FILTER_DEFLATE && !filters.deflate_)
      filters.deflate_ = number;
    else
      return {};
  }
  if (!filters.deflate_) return {};
  return filters;
}

bool ChunkFilters::undo(std::span<const std::byte> stored, std::uint32_t skipped,
                        std::vector<std::byte>& scratch, std::span<std::byte> chunk) const {
  const bool deflated = !has_bit(skipped, *deflate_);
  const bool shuffled = shuffle_ && !has_bit(skipped, *shuffle_);
  if (!deflated && stored.size() != chunk.size()) return false;
  if (!shuffled) {
    if (deflated) return inflate_chunk(stored, chunk);
    std::copy(stored.begin(), stored.end(), chunk.begin());
    return true;
  }
  if (deflated) {
    scratch.resize(chunk.size());
    if (!inflate_chunk(stored, scratch)) return false;
    stored = scratch;
  }
  unshuffle(stored, element_bytes_, chunk);
  return true;
}

}  // namespace tailrace::h5
