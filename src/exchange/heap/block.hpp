// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tailrace::exchange {

class Segment;

namespace detail {

/// An array of a heap.
struct HeapBlock {
  const void* heap = nullptr;  ///< null once it was freed
  std::uint32_t number = 0;    ///< the same on all ranks
  std::size_t element_bytes = 1;
  std::int64_t count = 0;            ///< of elements, if all ranks have as many
  std::vector<std::int64_t> counts;  ///< of each rank, if not
  Segment* segment = nullptr;
  std::size_t offset = 0;        ///< of this rank's part in the segment
  std::vector<std::byte*> near;  ///< the parts of the ranks of the node; null if out of reach

  [[nodiscard]] std::int64_t count_on(int rank) const noexcept {
    return counts.empty() ? count : counts[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::int64_t bytes_on(int rank) const noexcept {
    return count_on(rank) * static_cast<std::int64_t>(element_bytes);
  }
};

}  // namespace detail
}  // namespace tailrace::exchange
