#pragma once

#include <cstddef>

#include "tailrace/layout/transpose.hpp"

namespace tailrace::layout {

/// A box of points somewhere in memory: its first point and the distances of its rows and planes.
template <class Byte>
struct Placed {
  Byte* first;
  LocalLayout layout;
};

/// Whether the points of a box of these extents follow each other without gaps.
bool is_contiguous(Index3 extents, LocalLayout layout) noexcept;

/// Copies a box of `extents` points, with all threads where that pays.
void copy_box(Placed<std::byte> to, Placed<const std::byte> from, Index3 extents,
              std::size_t element_bytes) noexcept;

}  // namespace tailrace::layout
