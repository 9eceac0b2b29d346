// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exchange/heap/block.hpp"
#include "exchange/heap/far.hpp"
#include "exchange/heap/segment.hpp"
#include "mpi/node.hpp"
#include "tailrace/exchange/heap.hpp"

namespace tailrace::exchange {

/// The collective functions of a heap.
enum class HeapCall : std::uint8_t { barrier_all, allocate, free, broadcast, combine, collect, all_to_all };

struct Heap::State {
  State(mpi::CommView parent, const HeapOptions& wanted);

  /// Meets all ranks, and serves them meanwhile; they call the same function with the same numbers.
  /// @collective{comm}, synchronises. Errors, the same on all ranks (usage): they do not.
  void meet(HeapCall call, std::array<std::int64_t, 2> numbers = {});
  /// Waits for a collective operation, and serves other ranks meanwhile.
  void complete(mpi::Request request, const char* what);
  /// A number of each rank. @collective{comm}
  std::vector<std::int64_t> numbers_of_all(std::int64_t mine);

  /// A segment in which the array has room on all ranks, an old one or a new one. @collective{comm}
  Segment& room_for(const std::vector<std::int64_t>& bytes_of_rank);
  void grow(const std::vector<std::int64_t>& bytes_of_rank);
  [[nodiscard]] std::shared_ptr<Block> place(Segment& segment, std::size_t bytes);
  void register_block(const std::shared_ptr<Block>& block);

  /// Errors (input): not an array of this heap, no such rank, or a place beyond its part.
  void check(const Place& place, std::int64_t bytes) const;
  void check(const Place& place, const detail::ElementPattern& pattern, std::size_t element_bytes,
             std::size_t bytes) const;
  /// Where a place is in memory that this rank reaches, or null.
  [[nodiscard]] std::byte* near(const Place& place) const noexcept;
  [[nodiscard]] static FarPlace far_place(const Place& place) noexcept {
    return {place.rank, place.block->number, static_cast<std::uint64_t>(place.offset_bytes)};
  }

  HeapOptions options;
  mpi::Comm comm;
  mpi::Node node;
  HeapCounts counts;
  std::vector<std::unique_ptr<Segment>> segments;
  std::vector<std::shared_ptr<Block>> blocks;  ///< by number; null if free
  std::int64_t calls = 0;                      ///< of collective functions
  bool some_not_shared = false;                ///< of the segments of a node with several ranks
  Far far;
};

}  // namespace tailrace::exchange
