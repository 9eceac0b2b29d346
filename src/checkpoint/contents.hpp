// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "manifest.hpp"

namespace tailrace::checkpoint {

/// Describes what the HDF5 file of a checkpoint holds beside the data themselves.
struct Contents {
  /// Numbers, as the file has their bits.
  struct Numbers {
    h5::ElementType type = h5::ElementType::int64;
    std::vector<std::uint64_t> bits;
  };
  struct Set {
    std::string kind;
    bool compressed = false;
    h5::ElementType type = h5::ElementType::uint64;  ///< refers to the values of its elements
    std::int64_t values_each = 1;                    ///< that an element or row takes
    std::int64_t count = 0;                          ///< elements or rows
    std::string extents;                             ///< refers to a field
    std::string row_type;                            ///< refers to rows
    std::int64_t data_place = 0, cells_place = 0;    ///< first bytes in the file
    std::vector<std::uint64_t> parts;
    std::uint64_t sum = 0;

    [[nodiscard]] bool is_field() const noexcept { return kind == "field"; }
    /// Numbers of an entry of the directory, of these before those of any cell, and of a part.
    [[nodiscard]] std::size_t entry_words() const noexcept { return head_words() + (compressed ? 6 : 3); }
    [[nodiscard]] std::size_t head_words() const noexcept { return is_field() ? 6 : 1; }
    [[nodiscard]] std::size_t part_words() const noexcept { return is_field() ? 9 : 5; }
    [[nodiscard]] std::int64_t bytes_each() const noexcept {
      return values_each * static_cast<std::int64_t>(h5::size_bytes(type));
    }
  };
  std::map<std::string, int> components;
  std::map<std::string, Numbers> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, Set> sets;
};

/// Reads it from a checkpoint whose manifest was read. Errors (input): something is not as the format says.
/// @local
Contents read_contents(const std::string& checkpoint, const Manifest& manifest);

/// For the way to other ranks.
std::vector<std::byte> to_bytes(const Contents& contents);
Contents contents_of(std::span<const std::byte> bytes);

}  // namespace tailrace::checkpoint
