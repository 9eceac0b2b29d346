// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "phase_space_formats.hpp"

/// The header of netCDF files of the classic format, and molecules in them as variables v<CELL> of doubles.
namespace tailrace::molecules::netcdf {

// The classic format of netCDF, all numbers big-endian.
enum class Version : std::uint8_t { classic = 1, long_offsets = 2, long_data = 5 };
inline constexpr std::uint32_t dimension_tag = 10, variable_tag = 11, attribute_tag = 12;
inline constexpr std::uint32_t type_int = 4, type_double = 6;
/// Of a molecule.
inline constexpr std::int64_t doubles_each = 15, row_bytes = 8 * doubles_each;

/// Bytes of a header as they are made.
class HeaderBytes {
 public:
  explicit HeaderBytes(Version version) : version_(version) {}
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(bytes_.size()); }

  void add32(std::uint32_t value) { append_value(bytes_, big_endian(value)); }
  void add64(std::uint64_t value) { append_value(bytes_, big_endian(value)); }
  void add_double(double value) { append_value(bytes_, big_endian(value)); }
  /// A number whose width the version decides.
  void add_count(std::int64_t value) {
    if (version_ == Version::long_data)
      add64(static_cast<std::uint64_t>(value));
    else
      add32(static_cast<std::uint32_t>(
          std::min<std::int64_t>(value, std::numeric_limits<std::uint32_t>::max())));
  }
  void add_text(const std::string& text) {
    add_count(static_cast<std::int64_t>(text.size()));
    append_bytes(bytes_, std::as_bytes(std::span(text)));
    while (bytes_.size() % 4 != 0) bytes_.push_back(std::byte{0});
  }
  void add_list(std::uint32_t tag, std::int64_t count) {
    add32(count > 0 ? tag : 0);
    add_count(count);
  }

 private:
  Version version_;
  std::vector<std::byte> bytes_;
};

/// The cells of a file, in its order. @local. Errors (input).
std::vector<RowRange> read_cells(const std::string& path);

}  // namespace tailrace::molecules::netcdf
