// SPDX-License-Identifier: BSD-3-Clause
#include "device_needs.hpp"

#include <algorithm>
#include <array>

#include "device/box_transfer.hpp"
#include "device_source.hpp"
#include "device_space.hpp"

namespace tailrace::ultrasound {

namespace {

/// Calls `action` with each source that there is.
template <class Real, class Action>
void for_sources(const Sources<Real>& sources, const Action& action) {
  if (sources.pressure) action(*sources.pressure);
  if (sources.transducer) action(*sources.transducer);
  for (const auto& source : sources.velocity)
    if (source) action(*source);
}

/// Parameters of `make_medium` that vary in space.
template <class Real>
int varying_parameters(const Physics& physics, const RawMedium<Real>& medium) {
  const auto varies = [](const Coefficient<Real>& parameter) { return parameter.bytes() > 0; };
  int count = varies(medium.c0) + varies(medium.rho0);
  for (const auto& density : medium.rho0_staggered) count += varies(density);
  if (physics.nonlinear) count += varies(medium.b_on_a) || varies(medium.rho0);
  if (physics.absorption != Absorption::none)
    count += (physics.absorption == Absorption::power_law ? 2 : 1) *
             (varies(medium.alpha_coeff) || varies(medium.c0));
  return count;
}

template <class Real>
double bytes_of_input(const RawMedium<Real>& medium, const Sources<Real>& sources) {
  std::int64_t sum =
      medium.c0.bytes() + medium.rho0.bytes() + medium.b_on_a.bytes() + medium.alpha_coeff.bytes();
  for (const auto& density : medium.rho0_staggered) sum += density.bytes();
  if (sources.initial_pressure) sum += sources.initial_pressure->bytes();
  for_sources(sources, [&](const PointSource<Real>& source) { sum += source.bytes(); });
  return static_cast<double>(sum);
}

}  // namespace

template <class Real>
bool is_filtered(const Sources<Real>& sources) {
  bool filtered = false;
  for_sources(sources, [&](const PointSource<Real>& source) {
    filtered = filtered || source.mode == SourceMode::additive;
  });
  return filtered;
}

template <class Real>
DeviceNeeds device_needs(const Physics& physics, const RawMedium<Real>& medium, const Sources<Real>& sources,
                         bool moves) {
  DeviceNeeds needs{
      .tables = 1 + (is_filtered(sources) ? 1 : 0) + (physics.absorption == Absorption::power_law ? 2 : 0),
      .parameters = varying_parameters(physics, medium),
      .moves = moves,
      .input_bytes = bytes_of_input(medium, sources)};
  for_sources(sources, [&](const PointSource<Real>& source) {
    needs.source_bytes += DeviceSource<Real>::list_bytes(source);
    needs.patterns += DeviceSource<Real>::has_pattern(source);
  });
  return needs;
}

template <class Real>
double needed_device_bytes(const Grid& grid, int ranks, int rank, const DeviceNeeds& needs, bool emulated) {
  const auto points = static_cast<double>(grid.box_of(rank, ranks).volume());
  const auto dimensions = static_cast<int>(grid.dimensions());
  const int fields = 1 + (needs.moves ? 3 : 2) * dimensions + needs.parameters + needs.patterns;
  const int spectra = emulated ? 4 : 5;  // cuFFT works with as much where it cannot transform in place
  return points * fields * sizeof(Real) + spectra * DeviceSpace<Real>::spectrum_bytes(grid, ranks, rank) +
         needs.tables * DeviceSpace<Real>::table_bytes(grid, ranks, rank) + needs.source_bytes +
         static_cast<double>(device::BoxTransfer::bytes);
}

template <class Real>
double needed_host_bytes(const Grid& grid, int ranks, int rank, const DeviceNeeds& needs) {
  return DeviceSpace<Real>::host_bytes(grid, ranks, rank) + needs.input_bytes;
}

#define TAILRACE_FOR(Real)                                                                               \
  template bool is_filtered(const Sources<Real>&);                                                       \
  template DeviceNeeds device_needs(const Physics&, const RawMedium<Real>&, const Sources<Real>&, bool); \
  template double needed_device_bytes<Real>(const Grid&, int, int, const DeviceNeeds&, bool);            \
  template double needed_host_bytes<Real>(const Grid&, int, int, const DeviceNeeds&)

TAILRACE_FOR(float);
TAILRACE_FOR(double);

}  // namespace tailrace::ultrasound
