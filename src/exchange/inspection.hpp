// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "tailrace/exchange/distribution.hpp"

/// What a vector of global indices asks of which rank. Nothing here communicates: one process can inspect on
/// behalf of any rank of any number of ranks.
namespace tailrace::exchange {

/// The landing slots whose values one other rank owns: `count` of them from `first` on.
struct Source {
  int rank = 0;
  std::int32_t first = 0, count = 0;

  friend bool operator==(const Source&, const Source&) = default;
};

/// What one rank reads. A slot is a place in an array that has the rank's own values first and a landing slot
/// for each distinct remote index behind them, ordered by owner and by the owner's local index.
struct Inspection {
  std::int32_t owned = 0;             ///< slots of own values
  AlignedVector<std::int32_t> slots;  ///< of each position of the index vector
  std::vector<Source> sources;        ///< by rank; `first` counts from the first landing slot
  std::vector<std::int64_t> wanted;   ///< of each landing slot: the local index on its owner
  std::int64_t rim = 0;               ///< positions with a landing slot

  [[nodiscard]] std::int32_t array_size() const noexcept {
    return owned + static_cast<std::int32_t>(wanted.size());
  }
  /// Returns whether a position needs a value of another rank. @local
  [[nodiscard]] bool is_remote(std::size_t position) const noexcept { return slots[position] >= owned; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
};

/// Inspects `indices`, in any order, with repetitions, for `rank`. @local. Cost: a pass over the indices with
/// a hash table of the distinct remote ones, and a sort of these. Errors (input): an index out of range, with
/// its position; (resource) more than 2^31 - 1 slots.
Inspection inspect(const Distribution& distribution, int rank, std::span<const std::int64_t> indices);

}  // namespace tailrace::exchange
