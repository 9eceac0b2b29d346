// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "chunk_filters.hpp"
#include "h5/file.hpp"

namespace tailrace::h5 {

/// Reads floating-point numbers in compressed chunks of a dataset that is open elsewhere. The threads share
/// the chunks, where HDF5 inflates them one after the other. Chunks of which a hyperslab needs a part are
/// kept for the next one.
class ChunkReader {
 public:
  /// What is kept takes no more than this; larger chunks than that are left to HDF5, since each thread has
  /// one in memory.
  static constexpr std::size_t max_kept_bytes = std::size_t{1} << 29, max_chunk_bytes = std::size_t{1} << 25;

  /// Nothing for a dataset of other elements or without compressed chunks, which HDF5 is to read. The caller
  /// has the lock.
  static std::unique_ptr<ChunkReader> of(const Handle& set, const Operation& operation);

  /// Reads a hyperslab, converted to `type`; false if HDF5 is to do it, which knows more and says what is
  /// wrong. Called by a thread of a parallel region, it shares the chunks with those that have come to its
  /// end. The caller does not have the lock. One call at a time. @local
  [[nodiscard]] bool read(ElementType type, const Shape& start, const Shape& count, std::span<std::byte> out);

 private:
  struct Request {
    ElementType type;
    const Shape& start;
    const Shape& count;
    std::span<std::byte> out;
  };
  /// What a hyperslab needs of a chunk.
  struct Part {
    Shape chunk;                        ///< its number along each axis
    Shape begin, end;                   ///< in the dataset
    bool is_whole = true;               ///< nothing of the chunk is left for other hyperslabs
    std::vector<std::byte> bytes = {};  ///< of the chunk, if it is kept
  };
  /// Memory of a thread, for chunk after chunk.
  struct Scratch {
    std::vector<std::byte> stored, shuffled, chunk;
  };

  ChunkReader(hid_t set, ElementType type, Shape shape, Shape chunk, ChunkFilters filters);
  [[nodiscard]] bool serves(const Request& request) const;
  [[nodiscard]] Part part_in(const Shape& chunk, const Request& request) const;
  [[nodiscard]] std::vector<Part> parts_of(const Request& request);
  [[nodiscard]] bool take(const Part& part, const Request& request, Scratch& scratch,
                          std::vector<std::byte>& bytes) const;
  [[nodiscard]] bool load(const Shape& chunk, Scratch& scratch, std::span<std::byte> bytes) const;
  void copy(const Part& part, std::span<const std::byte> bytes, const Request& request) const;

  hid_t set_;
  ElementType type_;
  Shape shape_, chunk_;
  ChunkFilters filters_;
  std::size_t chunk_bytes_;
  std::map<Shape, std::vector<std::byte>> kept_;
  std::vector<Scratch> scratch_;  ///< of each thread
};

}  // namespace tailrace::h5
