// SPDX-License-Identifier: BSD-3-Clause
#include "device_fft.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "device/emulation.hpp"
#include "device/fft.hpp"
#include "spectral.hpp"

namespace tailrace::ultrasound {

namespace {

/// What a device has itself.
template <class Real>
class LibraryFft final : public DeviceFft<Real> {
 public:
  using typename DeviceFft<Real>::Complex;

  LibraryFft(const device::ComputeQueue& device, const on_device::Points& points,
             const on_device::ColumnBlock& block)
      : queue_(*device.queue) {
    const device::FftArrays spectrum = arrays(points, points.pitch), field = arrays(points, points.nx),
                            in_place = arrays(points, 2 * std::int64_t{points.pitch});
    using enum device::FftConfig::Kind;
    if (points.count() > 0) {
      forward_ = plan(real_to_complex, points, field, spectrum);
      forward_in_place_ = plan(real_to_complex, points, in_place, spectrum);
      inverse_ = plan(complex_to_real, points, spectrum, in_place);
    }
    if (block.count() > 0) {
      const device::FftArrays columns{.row = block.nz, .step = block.columns(), .distance = 1};
      along_z_ = device::plan_fft({.kind = complex,
                                   .real_bytes = sizeof(Real),
                                   .axes = 1,
                                   .extents = {1, block.nz},
                                   .in = columns,
                                   .out = columns,
                                   .count = block.columns()});
    }
    share_work(*device.device);
  }

  void forward(const Real* field, Complex* spectrum) override {
    if (forward_) forward_->run(queue_, const_cast<Real*>(field), spectrum, false);
  }
  void forward_in_place(Complex* spectrum) override {
    if (forward_in_place_) forward_in_place_->run(queue_, spectrum, spectrum, false);
  }
  void inverse_in_place(Complex* spectrum) override {
    if (inverse_) inverse_->run(queue_, spectrum, spectrum, true);
  }
  void along_z(Complex* columns, bool inverse) override {
    if (along_z_) along_z_->run(queue_, columns, columns, inverse);
  }
  [[nodiscard]] std::size_t work_bytes() const noexcept override { return work_.bytes(); }

 private:
  using Plan = std::unique_ptr<device::FftPlan>;

  static device::FftArrays arrays(const on_device::Points& points, std::int64_t row) {
    return {.row = row, .step = 1, .distance = row * points.ny};
  }
  /// Planes, or, where a plane is one row, rows.
  static Plan plan(device::FftConfig::Kind kind, const on_device::Points& points, const device::FftArrays& in,
                   const device::FftArrays& out) {
    return device::plan_fft({.kind = kind,
                             .real_bytes = sizeof(Real),
                             .axes = points.ny == 1 ? 1 : 2,
                             .extents = {points.ny, points.nx},
                             .in = in,
                             .out = out,
                             .count = points.planes});
  }
  /// Transforms take turns, and so do they with the memory that they work with.
  void share_work(device::Device& device) {
    const std::array all{forward_.get(), forward_in_place_.get(), inverse_.get(), along_z_.get()};
    std::size_t most = 0;
    for (const auto* each : all)
      if (each != nullptr) most = std::max(most, each->work_bytes());
    if (most > 0) work_ = device::Buffer(device, most);
    for (auto* each : all)
      if (each != nullptr && each->work_bytes() > 0) each->use_work(work_.data());
  }

  device::Queue& queue_;
  device::Buffer work_;
  Plan forward_, forward_in_place_, inverse_, along_z_;
};

/// The transforms of the processor, on an emulated device.
template <class Real>
class EmulatedFft final : public DeviceFft<Real> {
 public:
  using typename DeviceFft<Real>::Complex;

  EmulatedFft(device::Emulation& emulation, const on_device::Points& points,
              const on_device::ColumnBlock& block)
      : emulation_(emulation),
        points_(points),
        block_(block),
        planes_(points.nx, points.ny, DeviceFft<Real>::group),
        columns_(block.nz),
        plane_scratch_(planes_.make_scratch()),
        column_scratch_(columns_.make_scratch()) {
    TAILRACE_CHECK(planes_.pitch() == std::int64_t{points.pitch}, "a spectrum has the rows of its transform");
  }

  void forward(const Real* field, Complex* spectrum) override {
    emulation_.enqueue([=, this] { to_spectrum(field, points_.nx, spectrum); });
  }
  void forward_in_place(Complex* spectrum) override {
    emulation_.enqueue([=, this] {
      to_spectrum(reinterpret_cast<const Real*>(spectrum), 2 * std::int64_t{points_.pitch}, spectrum);
    });
  }
  void inverse_in_place(Complex* spectrum) override {
    emulation_.enqueue([=, this] {
      for_planes([&](std::int64_t first, std::int64_t rows) {
        const auto in = rows_of(spectrum, first);
        planes_.inverse(in, {reinterpret_cast<Real*>(in.first), 2 * in.stride}, rows, plane_scratch_);
      });
    });
  }
  void along_z(Complex* columns, bool inverse) override {
    emulation_.enqueue([=, this] {
      auto* const values = reinterpret_cast<std::complex<Real>*>(columns);
      const std::int64_t count = block_.columns();
      if (inverse)
        columns_.inverse(values, count, count, column_scratch_);
      else
        columns_.forward(values, count, count, column_scratch_);
    });
  }
  [[nodiscard]] std::size_t work_bytes() const noexcept override { return 0; }

 private:
  /// Calls action(first row, rows) for each plane; where planes are rows, for all at once.
  template <class Action>
  void for_planes(const Action& action) const {
    if (points_.ny == 1) return action(0, points_.planes);
    for (std::int64_t plane = 0; plane < points_.planes; ++plane) action(plane * points_.ny, points_.ny);
  }
  RowView<std::complex<Real>> rows_of(Complex* spectrum, std::int64_t first) const {
    const std::int64_t pitch = points_.pitch;
    return {reinterpret_cast<std::complex<Real>*>(spectrum) + first * pitch, pitch};
  }
  void to_spectrum(const Real* real, std::int64_t stride, Complex* spectrum) {
    for_planes([&](std::int64_t first, std::int64_t rows) {
      planes_.forward({real + first * stride, stride}, rows_of(spectrum, first), rows, plane_scratch_);
    });
  }

  device::Emulation& emulation_;
  on_device::Points points_;
  on_device::ColumnBlock block_;
  PlaneTransform<Real> planes_;
  ColumnTransform<Real> columns_;
  FftScratch<Real> plane_scratch_, column_scratch_;
};

}  // namespace

template <class Real>
std::unique_ptr<DeviceFft<Real>> make_device_fft(const device::ComputeQueue& device,
                                                 const on_device::Points& points,
                                                 const on_device::ColumnBlock& block) {
  if (auto* const emulation = device.queue->emulation())
    return std::make_unique<EmulatedFft<Real>>(*emulation, points, block);
  return std::make_unique<LibraryFft<Real>>(device, points, block);
}

template std::unique_ptr<DeviceFft<float>> make_device_fft(const device::ComputeQueue&,
                                                           const on_device::Points&,
                                                           const on_device::ColumnBlock&);
template std::unique_ptr<DeviceFft<double>> make_device_fft(const device::ComputeQueue&,
                                                            const on_device::Points&,
                                                            const on_device::ColumnBlock&);

}  // namespace tailrace::ultrasound
