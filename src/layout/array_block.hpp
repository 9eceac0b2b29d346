// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mpi/message.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::layout {

/// Describes where the points of a rank's box lie in its array, in bytes from the box's low corner.
struct ArrayBlock {
  Box box;
  LocalLayout layout;
  std::int64_t element_bytes = 0;

  [[nodiscard]] std::int64_t offset_bytes(Index3 point) const noexcept {
    return element_bytes * ((point.z - box.lo.z) * layout.stride_z + (point.y - box.lo.y) * layout.stride_y +
                            point.x - box.lo.x);
  }
  /// The memory of a box of points with these extents.
  [[nodiscard]] mpi::BlockShape shape(Index3 extents) const noexcept {
    return {.row_bytes = extents.x * element_bytes,
            .rows = extents.y,
            .planes = extents.z,
            .row_distance_bytes = layout.stride_y * element_bytes,
            .plane_distance_bytes = layout.stride_z * element_bytes};
  }
};

}  // namespace tailrace::layout
