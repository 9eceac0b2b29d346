// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "grid.hpp"
#include "medium.hpp"
#include "source.hpp"

/// The memory that a run takes on a device, before anything is made.
namespace tailrace::ultrasound {

/// Describes what a model takes beside its fields.
struct DeviceNeeds {
  int tables = 1, parameters = 0;            ///< of those that vary
  bool moves = false;                        ///< velocities to the grid points
  int patterns = 0;                          ///< of sources
  double source_bytes = 0, input_bytes = 0;  ///< of this rank: other sources; what the host has of the input
};

template <class Real>
DeviceNeeds device_needs(const Physics& physics, const RawMedium<Real>& medium, const Sources<Real>& sources,
                         bool moves);
/// Whether some source is filtered.
template <class Real>
bool is_filtered(const Sources<Real>& sources);

/// Bytes that a rank takes of a device; what cuFFT works with is an estimate. @local
template <class Real>
double needed_device_bytes(const Grid& grid, int ranks, int rank, const DeviceNeeds& needs, bool emulated);
/// Bytes of the host that go with it. @local
template <class Real>
double needed_host_bytes(const Grid& grid, int ranks, int rank, const DeviceNeeds& needs);

}  // namespace tailrace::ultrasound
