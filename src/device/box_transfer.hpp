// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "device/boxes.hpp"
#include "device/device.hpp"
#include "tailrace/box.hpp"

namespace tailrace::device {

/// Copies boxes of fields to the host and back, through a buffer of the device in which their values are one
/// behind the other. The device and the queue outlive it.
class BoxTransfer {
 public:
  static constexpr std::size_t bytes = std::size_t{4} << 20;  ///< of the device's memory

  /// @local. Errors (resource): the device has no room.
  BoxTransfer(Device& device, Queue& queue) : queue_(&queue), buffer_(device, bytes) {}

  /// The values of `part` of a field that has `own`, whose first point is `array.first`, x fastest, behind
  /// what the queue has. @local, waits for the device. Errors (resource): it failed.
  void read(const Array& array, const Box& own, const Box& part, std::span<std::byte> out);
  void write(const Array& array, const Box& own, const Box& part, std::span<const std::byte> in);

 private:
  Queue* queue_;
  Buffer buffer_;
};

}  // namespace tailrace::device
