// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "h5/file.hpp"

namespace tailrace::h5 {

class ChunkReader;

/// A dataset that is read part after part. It stays open, and parts that follow each other along its slowest
/// index share what they need of the same chunks: each chunk is read, and inflated, once. Those of
/// floating-point numbers that are deflated, perhaps shuffled, are inflated by all threads; called inside a
/// parallel region, by those that have come to its end. Chunks of which a part is left are kept as long as
/// the reader lives, if they fit into `max_kept_bytes`. One thread at a time.
class DatasetReader {
 public:
  static constexpr std::size_t max_kept_bytes = std::size_t{1} << 29;

  /// Errors (input): there is no such dataset. @local
  DatasetReader(const File& file, const std::string& dataset);
  ~DatasetReader();

  /// Reads a hyperslab, converted to T. `out` holds the product of `count` elements. @local. Errors (io).
  template <class T>
  void read_hyperslab(const Shape& start, const Shape& count, std::span<T> out) const {
    read_bytes(element_type_of<T>(), start, count, std::as_writable_bytes(out));
  }

 private:
  void read_bytes(ElementType type, const Shape& start, const Shape& count, std::span<std::byte> out) const;

  Operation operation_;
  Handle handle_;
  std::unique_ptr<ChunkReader> chunks_;  ///< nothing where HDF5 reads them
};

}  // namespace tailrace::h5
