// SPDX-License-Identifier: BSD-3-Clause
#include "device_solver.hpp"

#include "base/check.hpp"
#include "field_view.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

template <class Real>
DeviceSolver<Real>::~DeviceSolver() {
  try {
    queue_.synchronize();
  } catch (...) {  // a device that failed touches nothing any more; whoever waited for it has thrown
  }
}

template <class Real>
void DeviceSolver<Real>::rehearse() {
  for (int round = 0; round < 2; ++round) {
    for (auto* spectrum : spectrum_) transforms_.start_to_columns(spectrum);
    transforms_.finish();
    for (auto* spectrum : spectrum_) transforms_.space().start_to_planes(spectrum, 0);
    transforms_.finish();
  }
}

template <class Real>
void DeviceSolver<Real>::advance(StepIndex step) {
  auto& done = *done_[static_cast<std::size_t>(step) % done_.size()];
  done.wait();  // the step before the last, so that the host is never far ahead
  transforms_.set_step(step);
  step_ = step;
  spans_.begin(queue_, trace::Kind::compute, step);
  if (step == 1 && initial_pressure_) {
    start_from_initial_pressure();
  } else {
    pressure_gradients();
    update_velocities(false);
    velocity_gradients();
    update_densities();
    if (physics_.absorption == Absorption::power_law) absorb();
  }
  if (non_staggered_.is_due(step)) move_velocities_to_grid_points();
  spans_.end(queue_);
  queue_.record(done);
  collect_spans();
}

template <class Real>
void DeviceSolver<Real>::collect_spans() {
  spans_.collect();
  transforms_.space().collect_spans();
}

template <class Real>
void DeviceSolver<Real>::complete() {
  queue_.synchronize();
  collect_spans();
}

/// As on the processor: x and y share one transform along z.
template <class Real>
void DeviceSolver<Real>::pressure_gradients() {
  auto& fft = transforms_.fft();
  fft.along_z(spectrum_[0], false);
  on_device::share_gradient<Real>(queue_, transforms_.space().block(), spectrum_[0], spectrum_[1], kappa_,
                                  forward_[2]);
  transforms_.to_planes(std::array{spectrum_[0], spectrum_[1]});
}

template <class Real>
void DeviceSolver<Real>::update_velocities(bool initial) {
  auto& fft = transforms_.fft();
  on_device::differentiate<Real>(queue_, points(), spectrum_[0], scratch_, forward_[0], forward_[1]);
  const std::array gradients{scratch_, spectrum_[0], spectrum_[1]};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    fft.inverse_in_place(gradients[axis]);
    update_velocity(axis, reals(gradients[axis]), initial);
    if (initial) continue;
    // In the place of its own pressure gradient, or where nothing is any more.
    fft.forward(u_[axis], velocity_spectrum(axis));
    transforms_.start_to_columns(velocity_spectrum(axis));
  }
  transforms_.finish();
}

template <class Real>
void DeviceSolver<Real>::update_velocity(std::size_t axis, const Real* gradient, bool initial) {
  on_device::VelocityUpdate<Real> update{.u = u_[axis],
                                         .gradient = gradient,
                                         .dt_over_rho0 = dt_over_rho0_[axis],
                                         .layer = velocity_layer_[axis],
                                         .axis = static_cast<int>(axis),
                                         .initial = initial,
                                         .pattern = {}};
  auto& source = velocity_source_[axis];
  if (source && !initial) update.pattern = source->pattern(step_);
  on_device::update_velocity<Real>(queue_, points(), update);
  if (initial) return;
  if (source && source->acts_by_itself(step_)) source->act(step_, {u_[axis]});
  if (axis == 0 && transducer_ && transducer_->acts_by_itself(step_)) transducer_->act(step_, {u_[0]});
}

/// The spectra of the velocities become their own derivatives.
template <class Real>
void DeviceSolver<Real>::velocity_gradients() {
  auto& fft = transforms_.fft();
  auto& space = transforms_.space();
  on_device::ColumnProducts<Real> products;
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    products.spectra[axis] = velocity_spectrum(axis);
    products.tables[axis] = kappa_;
    products.factors[axis] = backward_[axis];
    fft.along_z(velocity_spectrum(axis), false);
  }
  on_device::multiply<Real>(queue_, space.block(), products);
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    fft.along_z(velocity_spectrum(axis), true);
    space.start_to_planes(velocity_spectrum(axis), step_);
  }
  transforms_.finish();
}

template <class Real>
void DeviceSolver<Real>::update_densities() {
  const bool power_law = physics_.absorption == Absorption::power_law,
             stokes = physics_.absorption == Absorption::stokes;
  on_device::DensityUpdate<Real> update{.nonlinear = physics_.nonlinear,
                                        .rho = rho_,
                                        .gradients = {},
                                        .layers = density_layer_,
                                        .pattern = {},
                                        .dt = static_cast<Real>(grid_.dt_s),
                                        .rho0 = rho0_,
                                        .c0_squared = c0_squared_,
                                        .b_over_2a_rho0 = b_over_2a_rho0_,
                                        .absorption = absorption_,
                                        .p = p_,
                                        .mass_flux = nullptr,
                                        .total = power_law ? reals(spectrum_[1]) : nullptr,
                                        .stokes = stokes};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    transforms_.fft().inverse_in_place(velocity_spectrum(axis));
    update.gradients[axis] = reals(velocity_spectrum(axis));
  }
  auto& source = pressure_source_;
  if (source) update.pattern = source->pattern(step_);
  const bool splits = source && source->acts_by_itself(step_);
  if (power_law || (stokes && splits)) update.mass_flux = reals(spectrum_[0]);
  update.updates_pressure = !splits;
  on_device::update_density<Real>(queue_, points(), update);
  if (splits) {
    source->act(step_, rho_);
    update.updates_density = false;
    update.updates_pressure = true;
    on_device::update_density<Real>(queue_, points(), update);
  }
  if (!power_law) transform_pressure();
}

/// Power-law absorption and dispersion: in place of spectra 0 and 1 are the mass flux and the density.
template <class Real>
void DeviceSolver<Real>::absorb() {
  auto& fft = transforms_.fft();
  const std::array both{spectrum_[0], spectrum_[1]};
  for (auto* spectrum : both) fft.forward_in_place(spectrum);
  transforms_.to_columns(both);
  on_device::multiply<Real>(queue_, transforms_.space().block(),
                            {.spectra = {both[0], both[1]}, .tables = {loss_table_, delay_table_}});
  transforms_.to_planes(both);
  for (auto* spectrum : both) fft.inverse_in_place(spectrum);
  on_device::lose<Real>(queue_, points(),
                        {.p = p_,
                         .absorption = absorption_,
                         .dispersion = dispersion_,
                         .loss = reals(both[0]),
                         .delay = reals(both[1])});
  transform_pressure();
}

template <class Real>
void DeviceSolver<Real>::transform_pressure() {
  transforms_.fft().forward(p_, spectrum_[0]);
  transforms_.start_to_columns(spectrum_[0]);
  transforms_.finish();
}

/// See `Solver::start_from_initial_pressure`.
template <class Real>
void DeviceSolver<Real>::start_from_initial_pressure() {
  if (p_ != nullptr) store_.fill(p_, *initial_pressure_);
  initial_pressure_.reset();
  on_device::share_density<Real>(queue_, points(), p_, c0_squared_, rho_);
  transform_pressure();
  pressure_gradients();
  update_velocities(true);
  transform_pressure();
}

/// The spectra of the velocities, by columns.
template <class Real>
void DeviceSolver<Real>::transform_velocities() {
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    transforms_.fft().forward(u_[axis], velocity_spectrum(axis));
    transforms_.start_to_columns(velocity_spectrum(axis));
  }
  transforms_.finish();
}

template <class Real>
void DeviceSolver<Real>::move_velocities_to_grid_points() {
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has_axis(axis)) move_velocity(axis);
}

/// Half a cell against its own axis, by factors of that axis; along x and y planes are all it takes.
template <class Real>
void DeviceSolver<Real>::move_velocity(std::size_t axis) {
  auto& fft = transforms_.fft();
  const std::array one{scratch_};
  fft.forward(u_[axis], scratch_);
  if (axis == 2) {
    transforms_.to_columns(one);
    on_device::ColumnProducts<Real> products;
    products.spectra[axis] = scratch_;
    products.factors[axis] = shift_[axis];
    on_device::multiply<Real>(queue_, transforms_.space().block(), products);
    transforms_.to_planes(one);
  } else {
    on_device::differentiate<Real>(queue_, points(), scratch_, scratch_, axis == 0 ? shift_[0] : nullptr,
                                   axis == 1 ? shift_[1] : nullptr);
  }
  fft.inverse_in_place(scratch_);
  on_device::take_out<Real>(queue_, points(), reals(scratch_), shifted_[axis]);
}

template <class Real>
output::FieldView DeviceSolver<Real>::view(const Real* field) const noexcept {
  const std::int64_t nx = points().nx, plane = nx * points().ny;
  return {.data = field,
          .type = h5::element_type_of<Real>(),
          .box = own_,
          .stride_y = grid_.dimensions() == 2 ? plane : nx,
          .stride_z = plane,
          .memory = output::Memory::device};
}

template <class Real>
output::FieldView DeviceSolver<Real>::field(const std::string& quantity) const {
  if (quantity == "p") return view(p_);
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const auto file_axis = grid_.file_axis(axis);
    if (!file_axis) continue;
    const std::string name = std::string("u") + axis_names[*file_axis];
    if (quantity == name) return view(u_[axis]);
    if (quantity == name + "_non_staggered") return view(shifted_[axis]);
  }
  TAILRACE_CHECK(false, "unknown quantity " + quantity);
}

template <class Real>
checkpoint::FieldState DeviceSolver<Real>::field_state(Real* field) {
  const auto seen = view(field);
  const device::Array array{field, seen.stride_y, seen.stride_z, sizeof(Real)};
  return {.data = nullptr,
          .type = seen.type,
          .domain = grid_.points,
          .box = own_,
          .stride_y = seen.stride_y,
          .stride_z = seen.stride_z,
          .read = [this, array](const Box& part,
                                std::span<std::byte> out) { transfer_->read(array, own_, part, out); },
          .write = [this, array](const Box& part,
                                 std::span<const std::byte> in) { transfer_->write(array, own_, part, in); }};
}

template <class Real>
void DeviceSolver<Real>::state(checkpoint::StateArchive& archive) {
  archive.component("sound", 1, [&](int) {
    archive.field("p", field_state(p_));
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (const auto file_axis = grid_.file_axis(axis)) {
        const char name = axis_names[*file_axis];
        archive.field(std::string("rho") + name, field_state(rho_[axis]));
        archive.field(std::string("u") + name + "_sg" + name, field_state(u_[axis]));
      }
  });
}

template <class Real>
void DeviceSolver<Real>::restored(StepIndex step) {
  transforms_.set_step(step);
  initial_pressure_.reset();
  transform_pressure();
}

/// Of a derivative in place of its spectrum.
template <class Real>
void DeviceSolver<Real>::read_gradient(std::size_t axis, std::span<std::byte> out) {
  const std::int64_t row = 2 * std::int64_t{points().pitch}, plane = row * points().ny;
  auto* const spectrum = velocity_spectrum(axis);
  transforms_.fft().inverse_in_place(spectrum);
  transfer_->read({spectrum, grid_.dimensions() == 2 ? plane : row, plane, sizeof(Real)}, own_, own_, out);
}

/// The spectrum that the next step begins with is put back at the end.
template <class Real>
void DeviceSolver<Real>::with_velocity_gradients(const ArrayUse& use) {
  transform_velocities();
  velocity_gradients();
  std::vector<StateArray> arrays;
  mpi::collectively(comm_, [&] {
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (const auto file_axis = grid_.file_axis(axis)) {
        const char name = axis_names[*file_axis];
        arrays.push_back(StateArray::copy_of({'d', 'u', name, 'd', name}, h5::element_type_of<Real>(), own_));
        read_gradient(axis, *arrays.back().copy);
      }
  });
  transform_pressure();
  use(arrays);
}

template <class Real>
std::int64_t DeviceSolver<Real>::saved_bytes() const noexcept {
  const auto arrays = static_cast<std::int64_t>(1 + 3 * grid_.dimensions());
  return arrays * points().count() * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
Sweeps<Real>& DeviceSolver<Real>::sweeps() {
  if (!sweeps_) sweeps_ = std::make_unique<Sweeps<Real>>(comm_, grid_, log_);
  return *sweeps_;
}

template <class Real>
std::int64_t DeviceSolver<Real>::memory_bytes() const noexcept {
  return transforms_.space().host_bytes() + (initial_pressure_ ? initial_pressure_->bytes() : 0);
}

template <class Real>
std::size_t DeviceSolver<Real>::device_bytes() const noexcept {
  return store_.bytes() + device::BoxTransfer::bytes + transforms_.fft_bytes();
}

template class DeviceSolver<float>;
template class DeviceSolver<double>;

}  // namespace tailrace::ultrasound
