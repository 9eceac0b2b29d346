// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "device_needs.hpp"
#include "device_solver.hpp"
#include "mpi/verdict.hpp"
#include "solver.hpp"

namespace tailrace::ultrasound {

template <class Real>
DeviceSolver<Real>::DeviceSolver(mpi::CommView comm, Model<Real> model, trace::Log& log,
                                 const device::ComputeQueue& device)
    : comm_(comm),
      log_(log),
      device_(*device.device),
      queue_(*device.queue),
      grid_(model.grid),
      physics_(model.physics),
      non_staggered_(model.non_staggered),
      own_(grid_.box_of(comm.rank(), comm.size())),
      initial_pressure_(std::move(model.sources.initial_pressure)),
      transforms_(comm, model.grid, device),
      store_(device),
      done_{device_.make_event(), device_.make_event()},
      spans_(device_, "device") {
  mpi::collectively(comm, [&] {
    transfer_.emplace(device_, queue_);
    make_fields();
    copy_medium(std::exchange(model.medium, {}));
    make_operators();
    make_tables(is_filtered(model.sources));
    queue_.synchronize();
  });
  make_sources(std::move(model.sources));
}

template <class Real>
void DeviceSolver<Real>::make_fields() {
  const std::int64_t count = points().count();
  p_ = store_.zeros<Real>(count);
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    u_[axis] = store_.zeros<Real>(count);
    rho_[axis] = store_.zeros<Real>(count);
    if (non_staggered_.samples() > 0) shifted_[axis] = store_.zeros<Real>(count);
  }
  const auto values = static_cast<std::int64_t>(transforms_.space().spectrum_bytes() / sizeof(Complex));
  for (auto& spectrum : spectrum_) spectrum = store_.zeros<Complex>(values);
  scratch_ = store_.zeros<Complex>(values);
}

template <class Real>
void DeviceSolver<Real>::copy_medium(const Medium<Real>& medium) {
  const std::int64_t plane = std::int64_t{points().nx} * points().ny;
  const auto copy = [&](const Coefficient<Real>& parameter) {
    return store_.copy(parameter, transforms_.space().planes(), plane);
  };
  c0_squared_ = copy(medium.c0_squared);
  rho0_ = copy(medium.rho0);
  b_over_2a_rho0_ = copy(medium.b_over_2a_rho0);
  absorption_ = copy(medium.absorption);
  dispersion_ = copy(medium.dispersion);
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (const auto file_axis = grid_.file_axis(axis))
      dt_over_rho0_[axis] = copy(medium.dt_over_rho0[*file_axis]);
}

/// `count` factors from `from` on, zeros behind the last one.
template <class Real>
auto DeviceSolver<Real>::copy_factors(const AlignedVector<std::complex<Real>>& factors, std::int64_t from,
                                      std::int64_t count, double scale) -> const Complex* {
  std::vector<Complex> copy(static_cast<std::size_t>(count), Complex{});
  for (std::int64_t i = 0; i < count && from + i < std::ssize(factors); ++i) {
    const auto& factor = factors[static_cast<std::size_t>(from + i)];
    copy[static_cast<std::size_t>(i)] = {factor.real() * static_cast<Real>(scale),
                                         factor.imag() * static_cast<Real>(scale)};
  }
  return store_.copy(std::span<const Complex>(copy));
}

template <class Real>
void DeviceSolver<Real>::make_operators() {
  const auto& space = transforms_.space();
  const Index3 n = grid_.folded();
  const auto& [y, kx] = space.columns();
  // Pressure gradients along x and y, and shifts, are taken by planes, the others by columns.
  const std::array<Range, axis_count> by_planes{Range{0, points().pitch}, Range{0, n.y}, Range{0, n.z}},
      by_columns{kx, y, Range{0, n.z}};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const auto file_axis = grid_.file_axis(axis);
    if (!file_axis) continue;
    const auto operators = make_axis_operators<Real>(grid_, *file_axis);
    const double transformed = axis == 2 ? static_cast<double>(n.volume()) : static_cast<double>(n.x * n.y);
    const Range planes = by_planes[axis], columns = by_columns[axis];
    forward_[axis] = copy_factors(operators.forward, planes.begin, planes.size(), 1);
    backward_[axis] = copy_factors(operators.backward, columns.begin, columns.size(), 1);
    if (non_staggered_.samples() > 0)
      shift_[axis] = copy_factors(operators.shift, planes.begin, planes.size(), 1 / transformed);
    const auto layers = make_pml_profile<Real>(grid_, *file_axis);
    const std::size_t first = axis == 2 ? static_cast<std::size_t>(space.planes().begin) : 0;
    velocity_layer_[axis] = store_.copy(std::span<const Real>(layers.velocity).subspan(first));
    density_layer_[axis] = store_.copy(std::span<const Real>(layers.density).subspan(first));
  }
}

/// function(|k|) for the columns of this rank.
template <class Real>
template <class Function>
const Real* DeviceSolver<Real>::make_table(Function function) {
  const auto& [y, kx] = transforms_.space().columns();
  const double normalise = 1.0 / static_cast<double>(grid_.folded().volume());
  const RadialTable<Real> table(grid_, y, kx, [&](double k) { return normalise * function(k); });
  return store_.copy(table.values());
}

template <class Real>
void DeviceSolver<Real>::make_tables(bool with_filter) {
  const double half_step = grid_.c_ref_m_s * grid_.dt_s / 2;
  kappa_ = make_table([&](double k) { return sinc(half_step * k); });
  if (with_filter) source_kappa_ = make_table([&](double k) { return std::cos(half_step * k); });
  if (physics_.absorption != Absorption::power_law) return;
  const double y = physics_.alpha_power;
  loss_table_ = make_table([&](double k) { return power_of_k(k, y - 2); });
  delay_table_ = make_table([&](double k) { return power_of_k(k, y - 1); });
}

template <class Real>
void DeviceSolver<Real>::make_sources(Sources<Real> sources) {
  const auto make = [&](auto& source, auto& out) {
    if (source) out.emplace(comm_, std::move(*source), store_, transforms_, source_kappa_, scratch_);
  };
  make(sources.pressure, pressure_source_);
  make(sources.transducer, transducer_);
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (const auto file_axis = grid_.file_axis(axis))
      make(sources.velocity[*file_axis], velocity_source_[axis]);
}

template <class Real>
std::unique_ptr<AnySolver<Real>> make_solver(mpi::CommView comm, Model<Real> model, trace::Log& log,
                                             const std::optional<device::ComputeQueue>& device) {
  const auto with_device = mpi::sum(comm, std::int64_t{device.has_value()});
  if (with_device != 0 && with_device != comm.size())
    throw Error(ErrorInfo{
        .kind = ErrorKind::usage,
        .message =
            fmt::format("{} of {} ranks have a device, and ultrasound computes on all devices or on none",
                        with_device, comm.size()),
        .path = {},
        .hint = "machines with devices only, or --device none"});
  if (device) return std::make_unique<DeviceSolver<Real>>(comm, std::move(model), log, *device);
  return std::make_unique<Solver<Real>>(comm, std::move(model), log);
}

template class DeviceSolver<float>;
template class DeviceSolver<double>;
template std::unique_ptr<AnySolver<float>> make_solver(mpi::CommView, Model<float>, trace::Log&,
                                                       const std::optional<device::ComputeQueue>&);
template std::unique_ptr<AnySolver<double>> make_solver(mpi::CommView, Model<double>, trace::Log&,
                                                        const std::optional<device::ComputeQueue>&);

}  // namespace tailrace::ultrasound
