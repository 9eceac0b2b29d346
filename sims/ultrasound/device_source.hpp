// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "device_store.hpp"
#include "device_transforms.hpp"
#include "source.hpp"

namespace tailrace::ultrasound {

/// A time-varying source on a device; see `SourceTerm`.
template <class Real>
class DeviceSource {
 public:
  using Complex = on_device::Complex<Real>;
  using Fields = std::array<Real*, 3>;  ///< null: there is no such one

  /// `filter` is the table of the factors of additive sources, `scratch` a spectrum that is free whenever the
  /// source is called. @collective{comm}, waits for the device. Errors (resource), on all ranks: it has no
  /// room.
  DeviceSource(mpi::CommView comm, PointSource<Real> source, DeviceStore& store,
               DeviceTransforms<Real>& transforms, const Real* filter, Complex* scratch);

  /// What is added in a step to every point, for sources of one signal that is filtered: such a source acts
  /// in the kernels that compute the field. @local
  [[nodiscard]] on_device::Pattern<Real> pattern(StepIndex step) const noexcept;
  /// True if it acts in a step by `act`. @local
  [[nodiscard]] bool acts_by_itself(StepIndex step) const noexcept {
    return source_.acts_in(step) && !has_pattern_;
  }
  /// All fields alike. @collective
  void act(StepIndex step, const Fields& fields);

  /// Whether a source has a pattern, which is as large as a field, and bytes of what else it takes on a
  /// device. @local
  static bool has_pattern(const PointSource<Real>& source) noexcept {
    return source.mode == SourceMode::additive && source.one_signal;
  }
  static double list_bytes(const PointSource<Real>& source) noexcept;

 private:
  void copy_source(DeviceStore& store);
  void name_points(DeviceStore& store);
  void fill_scratch(std::int64_t t, bool ones);

  PointSource<Real> source_;  ///< points and signals of many: on the device only
  bool filtered_, has_pattern_;
  DeviceTransforms<Real>& transforms_;
  const Real* filter_;
  Complex* scratch_;
  on_device::SourcePoints<Real> points_;
  Real* pattern_ = nullptr;
};

}  // namespace tailrace::ultrasound
