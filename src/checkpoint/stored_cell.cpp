// SPDX-License-Identifier: BSD-3-Clause
#include "stored_cell.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::checkpoint {

namespace {

/// Columns of a matrix of bytes one behind the other, whose rows are so.
void turn(std::span<const std::byte> from, std::size_t columns, std::span<std::byte> to) {
  constexpr std::size_t max_rows = 1 << 12;  // what stays in the cache while its columns are taken
  const std::size_t rows = from.size() / columns;
  for (std::size_t begin = 0; begin < rows; begin += max_rows)
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = begin; row < std::min(rows, begin + max_rows); ++row)
        to[column * rows + row] = from[row * columns + column];
}

}  // namespace

std::span<const std::byte> CellCompressor::store(std::span<const std::byte> cell, std::size_t element_bytes) {
  const auto as_is = whole_words(cell.size());
  turned_.resize(cell.size());
  turn(cell, element_bytes, turned_);
  stored_.resize(as_is);
  std::size_t bytes = zstd_.compress(turned_, compression_.zstd_level, std::span(stored_).first(as_is - 8));
  if (bytes == 0) {
    bytes = cell.size();
    std::memcpy(stored_.data(), cell.data(), bytes);
  }
  const auto whole = whole_words(bytes);
  std::memset(stored_.data() + bytes, 0, whole - bytes);
  return std::span(stored_).first(whole);
}

std::size_t CellCompressor::memory_bytes(Compression compression, std::size_t cell_bytes) noexcept {
  return Zstd::working_bytes(compression.zstd_level, cell_bytes) + 2 * cell_bytes;
}

std::span<const std::byte> CellDecompressor::restore(std::span<const std::byte> stored,
                                                     std::size_t cell_bytes) {
  if (stored.size() == whole_words(cell_bytes)) return stored.first(cell_bytes);
  turned_.resize(cell_bytes);
  if (!zstd_.decompress(stored, turned_)) return {};
  cell_.resize(cell_bytes);
  turn(turned_, cell_bytes / element_bytes_, cell_);
  return cell_;
}

}  // namespace tailrace::checkpoint
