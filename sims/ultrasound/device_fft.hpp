// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.hpp"
#include "device_kernels.hpp"

namespace tailrace::ultrasound {

/// The transforms of a rank's planes and columns in the memory of a device, unnormalised: by the device's
/// library, or, where it is emulated, by what transforms on the processor. All come behind what the queue
/// has.
template <class Real>
class DeviceFft {
 public:
  using Complex = on_device::Complex<Real>;

  virtual ~DeviceFft() = default;
  /// A field, its points without gaps, to its spectrum plane by plane; or real numbers in place of a
  /// spectrum, and back. @local. Errors (resource): the device refused.
  virtual void forward(const Real* field, Complex* spectrum) = 0;
  virtual void forward_in_place(Complex* spectrum) = 0;
  virtual void inverse_in_place(Complex* spectrum) = 0;
  /// Columns along z, in place. Likewise.
  virtual void along_z(Complex* columns, bool inverse) = 0;
  /// Bytes of the device that transforms work with.
  [[nodiscard]] virtual std::size_t work_bytes() const noexcept = 0;

  /// Values of a row of a spectrum: half of it, and some so that rows are vectors.
  static constexpr std::int64_t pitch_of(std::int64_t nx) noexcept {
    return (nx / 2 + 1 + group - 1) / group * group;
  }
  static constexpr std::int64_t group = 4;
};

/// @local. Errors (resource): the device has no transforms, or no room.
template <class Real>
std::unique_ptr<DeviceFft<Real>> make_device_fft(const device::ComputeQueue& device,
                                                 const on_device::Points& points,
                                                 const on_device::ColumnBlock& block);

}  // namespace tailrace::ultrasound
