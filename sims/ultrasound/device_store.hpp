// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device_kernels.hpp"
#include "field.hpp"

namespace tailrace::ultrasound {

/// Arrays in the memory of a device, as long as it lives. All functions @local and waiting for the device.
/// Errors (resource): it has no room, or failed.
class DeviceStore {
 public:
  explicit DeviceStore(const device::ComputeQueue& device) : device_(*device.device), queue_(*device.queue) {}

  /// Zeros; null of nothing.
  template <class T>
  T* zeros(std::int64_t count) {
    if (count == 0) return nullptr;
    auto& buffer = add(static_cast<std::size_t>(count) * sizeof(T));
    queue_.clear(buffer.data(), buffer.bytes());
    return reinterpret_cast<T*>(buffer.data());
  }
  /// A copy; null of nothing.
  template <class T>
  const T* copy(std::span<const T> values) {
    if (values.empty()) return nullptr;
    auto& buffer = add(values.size_bytes());
    queue_.copy_to_device(buffer.data(), values.data(), values.size_bytes());
    queue_.synchronize();
    return reinterpret_cast<const T*>(buffer.data());
  }
  /// A field or a parameter without the gaps between planes.
  template <class Real>
  void fill(Real* to, const Field<Real>& field) {
    const std::int64_t plane = field.stride_y() * field.box().extents().y;
    copy_planes(to, field.planes(), plane, [&](std::int64_t z) { return field.plane(z); });
  }
  template <class Real>
  on_device::Parameter<Real> copy(const Coefficient<Real>& parameter, Range planes, std::int64_t plane) {
    if (parameter.is_constant()) return {nullptr, parameter.row(0, 0)[0]};
    if (parameter.bytes() == 0) return {};
    auto* const values =
        reinterpret_cast<Real*>(add(static_cast<std::size_t>(plane * planes.size()) * sizeof(Real)).data());
    copy_planes(values, planes, plane, [&](std::int64_t z) { return parameter.row(0, z); });
    return {values, 0};
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const auto& buffer : buffers_) sum += buffer.bytes();
    return sum;
  }

 private:
  device::Buffer& add(std::size_t bytes) { return buffers_.emplace_back(device_, bytes); }
  template <class Real, class Plane>
  void copy_planes(Real* to, Range planes, std::int64_t plane, const Plane& values) {
    const auto bytes = static_cast<std::size_t>(plane) * sizeof(Real);
    for (std::int64_t z = planes.begin; z < planes.end; ++z, to += plane)
      queue_.copy_to_device(to, values(z), bytes);
    queue_.synchronize();
  }

  device::Device& device_;
  device::Queue& queue_;
  std::vector<device::Buffer> buffers_;
};

}  // namespace tailrace::ultrasound
