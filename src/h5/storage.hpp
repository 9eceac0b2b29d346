// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::h5 {

/// Describes where the bytes of an open HDF5 file are, in place of the library's own access to files. The
/// library calls it while it works on the file, one call at a time. No function throws: what fails is kept
/// for whoever owns the storage, because the library leaks and crashes when writes fail while it closes a
/// file.
class Storage {
 public:
  virtual ~Storage() = default;

  /// Describes what the bytes of a write are to HDF5.
  enum class Content {
    values,     ///< refers to a dataset
    structure,  ///< HDF5's own: headers, indices, the superblock
  };

  /// Bytes from the beginning on that can be read. @local
  [[nodiscard]] virtual std::int64_t size_bytes() const noexcept = 0;
  /// Reads bytes, those beyond the end as 0; false if the system refuses. @local
  virtual bool read(std::int64_t offset, std::span<std::byte> out) noexcept = 0;
  virtual void write(std::int64_t offset, std::span<const std::byte> bytes, Content content) noexcept = 0;
  /// The file has `size_bytes` bytes now, and what was written up to here fits together. @local
  virtual void commit(std::int64_t size_bytes) noexcept = 0;
};

}  // namespace tailrace::h5
