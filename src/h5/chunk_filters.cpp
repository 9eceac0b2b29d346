// SPDX-License-Identifier: BSD-3-Clause
#include "chunk_filters.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

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

bool read_filters(hid_t creation, ChunkLayout& layout) {
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, settings = 0;
    std::array<unsigned, 8> values{};
    std::size_t count = values.size();
    const auto filter = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &count, values.data(), 0,
                                       nullptr, &settings);
    if (filter == H5Z_FILTER_SHUFFLE && i == 0)
      layout.shuffle = true;
    else if (filter == H5Z_FILTER_DEFLATE && layout.deflate < 0 && count > 0)
      layout.deflate = static_cast<int>(values[0]);
    else
      return false;
  }
  return true;
}

std::optional<ChunkFilters> ChunkFilters::of(hid_t creation, std::size_t element_bytes) {
  ChunkLayout layout;
  if (!read_filters(creation, layout) || layout.deflate < 0) return {};
  return ChunkFilters(element_bytes, layout.shuffle);
}

bool ChunkFilters::undo(std::span<const std::byte> stored, std::uint32_t skipped,
                        std::vector<std::byte>& scratch, std::span<std::byte> chunk) const {
  const bool deflated = !has_bit(skipped, shuffle_ ? 1 : 0), shuffled = shuffle_ && !has_bit(skipped, 0);
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
