// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.hpp"
#include "stored_cell.hpp"

/// How items of any length lie in cells (docs/formats/checkpoint.md): a word with the length in bytes, the
/// bytes, and zeros to whole words.
namespace tailrace::checkpoint {

inline constexpr std::size_t item_word_bytes = 8;

/// Bytes that an item takes.
constexpr std::size_t stored_item_bytes(std::int64_t bytes) noexcept {
  return item_word_bytes + whole_words(static_cast<std::size_t>(bytes));
}

/// Writes the length and the zeros around an item of so many bytes. Returns the place of its bytes.
inline std::span<std::byte> frame_item(std::span<std::byte> stored, std::int64_t bytes) noexcept {
  put_at(stored, 0, static_cast<std::uint64_t>(bytes));
  const auto end = item_word_bytes + static_cast<std::size_t>(bytes);
  std::memset(stored.data() + end, 0, stored.size() - end);
  return stored.subspan(item_word_bytes, static_cast<std::size_t>(bytes));
}

/// Describes the first item of some cells.
struct StoredItem {
  std::span<const std::byte> stored;  ///< with its length and the zeros behind it
  std::span<const std::byte> bytes;
};

/// Takes the first item off the cells. Nothing if its length cannot be.
inline std::optional<StoredItem> take_item(std::span<const std::byte>& cells) noexcept {
  if (cells.size() < item_word_bytes) return {};
  const auto bytes = value_at<std::uint64_t>(cells);
  const auto room = cells.size() - item_word_bytes;
  if (bytes > room || whole_words(bytes) > room) return {};
  const auto stored = cells.first(item_word_bytes + whole_words(bytes));
  cells = cells.subspan(stored.size());
  return StoredItem{stored, stored.subspan(item_word_bytes, bytes)};
}

}  // namespace tailrace::checkpoint
