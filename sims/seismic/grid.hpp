// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/aligned.hpp"
#include "tailrace/box.hpp"

namespace tailrace::seismic {

/// Points to each side that a derivative of 8th order reads.
inline constexpr std::int64_t reach = 4;

/// Describes where the values of a rank's box and of the `halo` points around it lie in an array: x fastest,
/// rows start on cache lines, and the distance of planes is odd in cache lines, so that the planes that one
/// point needs do not push each other out of the first cache.
class ArrayLayout {
 public:
  ArrayLayout() = default;
  template <class Real>
  static ArrayLayout of(Index3 extents, std::int64_t halo) {
    constexpr auto line = static_cast<std::int64_t>(padded<Real>(1));
    ArrayLayout layout;
    layout.lead_ = halo > 0 ? line : 0;
    const auto row = static_cast<std::size_t>(extents.x + halo + layout.lead_);
    layout.stride_y = static_cast<std::int64_t>(padded<Real>(row));
    std::int64_t lines = layout.stride_y / line * (extents.y + 2 * halo);
    while (halo > 0 && lines % line_period != line_phase) ++lines;
    layout.stride_z = lines * line;
    layout.origin = layout.lead_ + halo * (layout.stride_y + layout.stride_z);
    layout.size = layout.stride_z * (extents.z + 2 * halo) + 3 * line;
    return layout;
  }
  /// Place of a point counted from the low corner of the box.
  [[nodiscard]] std::int64_t at(Index3 p) const noexcept {
    return origin + p.z * stride_z + p.y * stride_y + p.x;
  }

  std::int64_t stride_y = 0, stride_z = 0, origin = 0, size = 0;  ///< in elements

 private:
  static constexpr std::int64_t line_period = 16, line_phase = 7;
  std::int64_t lead_ = 0;
};

/// An array of so many zeros; each plane lies where the thread that is likely to compute it puts it.
template <class Real>
AlignedVector<Real> zero_array(std::int64_t size, std::int64_t plane) {
  AlignedVector<Real> array(static_cast<std::size_t>(size));
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < size; at += std::max<std::int64_t>(plane, 1))
    std::fill_n(array.begin() + at, std::min(plane, size - at), Real{0});
  return array;
}

}  // namespace tailrace::seismic
