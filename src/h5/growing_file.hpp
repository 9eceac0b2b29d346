// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tailrace/dataset.hpp"

namespace tailrace::h5 {

/// The beginning of a file with one dataset, `/values` of shape (rows, components), whose bytes follow one
/// another up to the end of the file. It grows without HDF5: whoever likes puts bytes behind its end, and
/// then somebody puts the head there that says so. The head lies within one page, so that a reader finds the
/// old one or the new one.
class GrowingHead {
 public:
  static constexpr const char* dataset = "/values";

  /// Creates such a file, without rows. @local. Errors (io).
  static GrowingHead create(const std::string& path, std::int64_t components, ElementType type);
  /// Finds the head of one. @local. Errors (input): it is none.
  static GrowingHead read(const std::string& path);

  [[nodiscard]] std::int64_t rows() const noexcept;
  /// Where the first row begins in the file.
  [[nodiscard]] std::int64_t data_offset() const noexcept { return data_offset_; }
  [[nodiscard]] std::int64_t row_bytes() const noexcept { return row_bytes_; }
  /// The bytes at the beginning of the file if it has so many rows.
  const std::vector<std::byte>& with_rows(std::int64_t rows);

 private:
  explicit GrowingHead(const std::string& path);
  void find_messages(const std::string& path, std::uint64_t header);

  static constexpr std::size_t end_at = 40;  ///< where the superblock says how long the file is
  std::vector<std::byte> bytes_;
  std::int64_t data_offset_ = 0, row_bytes_ = 0;
  std::size_t rows_at_ = 0, max_rows_at_ = 0, address_at_ = 0, size_at_ = 0;
};

}  // namespace tailrace::h5
