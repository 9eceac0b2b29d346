// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>

#include "device_fft.hpp"
#include "device_space.hpp"

namespace tailrace::ultrasound {

/// The transforms of a device across all ranks.
template <class Real>
class DeviceTransforms {
 public:
  using Complex = on_device::Complex<Real>;

  /// @collective{comm}, synchronises. Errors (resource), on all ranks.
  DeviceTransforms(mpi::CommView comm, const Grid& grid, const device::ComputeQueue& device);

  [[nodiscard]] DeviceSpace<Real>& space() noexcept { return space_; }
  [[nodiscard]] const DeviceSpace<Real>& space() const noexcept { return space_; }
  [[nodiscard]] DeviceFft<Real>& fft() noexcept { return *fft_; }
  [[nodiscard]] device::Queue& queue() noexcept { return queue_; }
  /// Bytes of the device. @local
  [[nodiscard]] std::size_t fft_bytes() const noexcept { return fft_->work_bytes(); }
  /// The step that spans of the trace belong to from now on.
  void set_step(StepIndex step) noexcept { step_ = step; }

  /// Spectra by planes become spectra by columns that are transformed along z; and back. @collective{comm}
  template <std::size_t count>
  void to_columns(const std::array<Complex*, count>& spectra) {
    for (auto* spectrum : spectra) start_to_columns(spectrum);
    finish();
    for (auto* spectrum : spectra) fft_->along_z(spectrum, false);
  }
  template <std::size_t count>
  void to_planes(const std::array<Complex*, count>& spectra) {
    for (auto* spectrum : spectra) {
      fft_->along_z(spectrum, true);
      space_.start_to_planes(spectrum, step_);
    }
    finish();
  }
  /// Begins to send a spectrum, which `finish` completes; it is not transformed along z. @collective{comm}
  void start_to_columns(Complex* spectrum) { space_.start_to_columns(spectrum, step_); }
  void finish() { space_.finish(); }
  /// Multiplies the spectrum of real numbers, which are in place of it, by a table, and transforms back.
  /// @collective{comm}
  void filter(Complex* in_place, const Real* table);

 private:
  device::Queue& queue_;
  DeviceSpace<Real> space_;
  std::unique_ptr<DeviceFft<Real>> fft_;
  StepIndex step_ = 0;
};

}  // namespace tailrace::ultrasound
