// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tailrace/checkpoint_options.hpp"
#include "zstd.hpp"

/// The bytes of a cell in a compressed set (docs/formats/checkpoint.md): a frame of zstd with the first byte
/// of all elements, then the second of all, and so on, or where that is not smaller the cell as it is; with
/// zeros to whole words.
namespace tailrace::checkpoint {

/// Bytes of whole words.
constexpr std::size_t whole_words(std::size_t bytes) noexcept {
  constexpr std::size_t word = 8;
  return (bytes + word - 1) / word * word;
}

/// Makes stored cells, one after the other.
class CellCompressor {
 public:
  explicit CellCompressor(Compression compression) : compression_(compression) {}

  /// The stored bytes of a cell, until the next call.
  std::span<const std::byte> store(std::span<const std::byte> cell, std::size_t element_bytes);
  /// Memory that it takes for cells of up to so many bytes.
  static std::size_t memory_bytes(Compression compression, std::size_t cell_bytes) noexcept;

 private:
  Compression compression_;
  Zstd zstd_;
  std::vector<std::byte> turned_, stored_;
};

/// Makes cells of their stored bytes.
class CellDecompressor {
 public:
  explicit CellDecompressor(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  /// The cell of so many bytes, until the next call; nothing if the stored bytes are not those of such a
  /// cell.
  std::span<const std::byte> restore(std::span<const std::byte> stored, std::size_t cell_bytes);

 private:
  std::size_t element_bytes_;
  Zstd zstd_;
  std::vector<std::byte> turned_, cell_;
};

}  // namespace tailrace::checkpoint
