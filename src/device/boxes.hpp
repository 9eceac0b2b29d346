// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device.hpp"

/// Boxes of points in an array of a device, copied into memory where their values are one behind the other,
/// and back.
namespace tailrace::device {

/// Describes such an array: x contiguous, rows and planes at these distances in elements of 4 or 8 bytes.
struct Array {
  void* first = nullptr;  ///< the point (0, 0, 0)
  std::int64_t stride_y = 0, stride_z = 0;
  std::size_t element_bytes = 0;
};

/// A box: where its first point lies, in elements, and its extents.
struct BoxInArray {
  std::int64_t from = 0;
  std::int64_t width = 0, height = 0, depth = 0;

  [[nodiscard]] std::int64_t points() const noexcept { return width * height * depth; }
};

/// Several boxes, whose values are together in the order of the list, in the device's memory.
class BoxList {
 public:
  BoxList() = default;
  /// @local, waits for the device. Errors (resource): it has no room.
  BoxList(Device& device, Queue& queue, const std::vector<BoxInArray>& boxes);

  [[nodiscard]] std::int64_t points() const noexcept { return points_; }
  /// Behind what the queue has. @local. Errors (resource): the device refused.
  void pack(Queue& queue, const Array& array, std::byte* out) const;
  void unpack(Queue& queue, const Array& array, const std::byte* in) const;

 private:
  Buffer boxes_, ends_;
  std::int64_t points_ = 0;
};

/// One box, likewise.
void pack(Queue& queue, const Array& array, const BoxInArray& box, std::byte* out);
void unpack(Queue& queue, const Array& array, const BoxInArray& box, const std::byte* in);

/// Whether all values of a box of floating-point numbers are neither NaN nor infinite. `flags` is memory of
/// the device for `flag_count` bytes. @local, waits for the device. Errors (resource): the device failed.
inline constexpr std::int64_t flag_count = 1 << 15;
[[nodiscard]] bool is_finite(Queue& queue, const Array& array, const BoxInArray& box, std::byte* flags);

}  // namespace tailrace::device
