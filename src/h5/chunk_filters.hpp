// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "h5/chunked.hpp"

namespace tailrace::h5 {

/// Reads the filters of a dataset from its creation properties into `layout`; false if there is one that is
/// not known here, or they are in another order. The caller has the lock.
bool read_filters(hid_t creation, ChunkLayout& layout);

/// What was done to each chunk of a dataset before it was stored: deflate, perhaps after a shuffle of bytes.
/// Undoing it calls no HDF5, so that several threads can do it at the same time.
class ChunkFilters {
 public:
  /// The filters of a dataset by its creation properties; nothing if it has none, or others.
  static std::optional<ChunkFilters> of(hid_t creation, std::size_t element_bytes);

  /// Restores a chunk into `chunk`, which has its size. Bit i of `skipped` says that filter i was not
  /// applied. `scratch` serves call after call. Returns whether `stored` was such a chunk. @local
  [[nodiscard]] bool undo(std::span<const std::byte> stored, std::uint32_t skipped,
                          std::vector<std::byte>& scratch, std::span<std::byte> chunk) const;

 private:
  ChunkFilters(std::size_t element_bytes, bool shuffle) : element_bytes_(element_bytes), shuffle_(shuffle) {}

  std::size_t element_bytes_;
  bool shuffle_;  ///< then deflate is the second filter
};

}  // namespace tailrace::h5
