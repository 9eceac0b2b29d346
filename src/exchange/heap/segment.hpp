// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/aligned.hpp"
#include "mpi/node.hpp"

namespace tailrace::exchange {

/// Places in a range of memory, taken and given back in any order; aligned to cache lines.
class FreeRanges {
 public:
  /// The first `reserved` bytes are never given away.
  explicit FreeRanges(std::size_t bytes, std::size_t reserved = 0) { give_back(reserved, bytes - reserved); }

  /// The first place with so many bytes, or nothing. @local
  [[nodiscard]] std::optional<std::size_t> find(std::size_t bytes) const noexcept;
  /// Takes what `find` has found. @local
  void take(std::size_t first, std::size_t bytes);
  void give_back(std::size_t first, std::size_t bytes);
  [[nodiscard]] std::size_t free_bytes() const noexcept;

 private:
  std::map<std::size_t, std::size_t> ranges_;  ///< first byte, bytes; no two of them touch
};

/// Memory by which a heap grows: of each rank of a node a part, as large as that rank needs, which the others
/// reach if the system has shared memory for all of them.
class Segment {
 public:
  /// `bytes` of this rank. @collective{node}, synchronises. Does not throw for want of memory: see
  /// `complete`.
  Segment(const mpi::Node& node, std::size_t bytes);

  /// Returns whether this rank has its memory. @local
  [[nodiscard]] bool complete() const noexcept { return own_ != nullptr; }
  [[nodiscard]] bool shared() const noexcept { return shared_.has_value(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  [[nodiscard]] FreeRanges& ranges() noexcept { return ranges_; }
  [[nodiscard]] const FreeRanges& ranges() const noexcept { return ranges_; }
  [[nodiscard]] std::byte* own() const noexcept { return own_; }
  /// Where the same thing begins on each rank of the node that this one reaches: here at `offset`, which each
  /// rank hands in for itself. By rank of the node; null if out of reach. @collective{node}, synchronises
  [[nodiscard]] std::vector<std::byte*> places(std::size_t offset) const;

 private:
  const mpi::Node* node_;
  std::size_t bytes_;
  FreeRanges ranges_;
  std::optional<mpi::SharedMemory> shared_;
  struct Release {
    std::size_t bytes;
    void operator()(std::byte* memory) const noexcept {
      AlignedAllocator<std::byte>().deallocate(memory, bytes);
    }
  };
  std::unique_ptr<std::byte, Release> alone_;  ///< if there is no shared memory; pages come with their use
  std::byte* own_ = nullptr;
};

}  // namespace tailrace::exchange
