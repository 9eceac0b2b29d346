// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "device/device.hpp"
#include "kernel.hpp"

/// One time step on a device: what `update` does, by kernels.
namespace tailrace::seismic {

/// As `update`, with all pointers of `arrays` into the device's memory, behind what the queue has. The value
/// of a point does not depend on the box. @local. Errors (resource): the device refused.
template <class Real>
void update_on_device(device::Queue& queue, const StepArrays<Real>& arrays, const Box& box);

/// A source whose values are in the device's memory.
struct DeviceSource {
  std::int64_t at = 0;     ///< its point in the fields
  std::int64_t first = 0;  ///< of its values among those of all sources
  std::int64_t count = 0;
};

/// Adds the sources' values of a step, which starts with 1, to the fields; `q` may be null. No two sources
/// are at one point. Likewise.
template <class Real>
struct SourceArrays {
  const DeviceSource* sources = nullptr;
  std::int64_t count = 0;
  const Real* values = nullptr;
  Real *p = nullptr, *q = nullptr;
};
template <class Real>
void add_sources_on_device(device::Queue& queue, const SourceArrays<Real>& arrays, StepIndex step);

}  // namespace tailrace::seismic
