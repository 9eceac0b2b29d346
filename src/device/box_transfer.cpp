// SPDX-License-Identifier: BSD-3-Clause
#include "device/box_transfer.hpp"

#include <algorithm>

namespace tailrace::device {

namespace {

/// Calls `action` with parts of a box, so small that the buffer holds each, and the place of the first byte
/// of each among the values of the box, and how many there are.
template <class Action>
void for_parts(const Array& array, const Box& own, const Box& box, const Action& action) {
  const Index3 n = box.extents();
  if (box.empty()) return;
  const auto element = static_cast<std::int64_t>(array.element_bytes), row_bytes = n.x * element;
  const std::int64_t most = BoxTransfer::bytes;
  const std::int64_t planes = std::max<std::int64_t>(1, most / (row_bytes * n.y)),
                     rows = std::min(n.y, std::max<std::int64_t>(1, most / row_bytes));
  for (std::int64_t z = 0; z < n.z; z += planes)
    for (std::int64_t y = 0; y < n.y; y += rows) {
      const BoxInArray part{.from = (box.lo.z - own.lo.z + z) * array.stride_z +
                                    (box.lo.y - own.lo.y + y) * array.stride_y + box.lo.x - own.lo.x,
                            .width = n.x,
                            .height = std::min(rows, n.y - y),
                            .depth = std::min(planes, n.z - z)};
      action(part, static_cast<std::size_t>((z * n.y + y) * row_bytes),
             static_cast<std::size_t>(part.points() * element));
    }
}

}  // namespace

void BoxTransfer::read(const Array& array, const Box& own, const Box& part, std::span<std::byte> out) {
  for_parts(array, own, part, [&](const BoxInArray& some, std::size_t at, std::size_t count) {
    pack(*queue_, array, some, buffer_.data());
    queue_->copy_to_host(out.data() + at, buffer_.data(), count);
    queue_->synchronize();
  });
}

void BoxTransfer::write(const Array& array, const Box& own, const Box& part, std::span<const std::byte> in) {
  for_parts(array, own, part, [&](const BoxInArray& some, std::size_t at, std::size_t count) {
    queue_->copy_to_device(buffer_.data(), in.data() + at, count);
    unpack(*queue_, array, some, buffer_.data());
    queue_->synchronize();
  });
}

}  // namespace tailrace::device
