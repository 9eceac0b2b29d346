// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "field_view.hpp"
#include "kernels.hpp"

namespace tailrace::ultrasound {

namespace {

/// A field of zeros, each page first touched by the thread that will use it.
template <class Real>
Field<Real> make_zero_field(Index3 points, Range planes) {
  Field<Real> field(points, planes);
#pragma omp parallel for schedule(static)
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    std::fill_n(field.plane(z), field.stride_z(), Real(0));
  return field;
}

}  // namespace

template <class Real>
Solver<Real>::Solver(mpi::CommView comm, Model<Real> model, trace::Log& log)
    : log_(log),
      grid_(model.grid),
      points_(model.grid.folded()),
      physics_(model.physics),
      medium_(std::move(model.medium)),
      non_staggered_(model.non_staggered),
      sweeps_(comm, model.grid, log),
      space_(sweeps_.space()) {
  prepare_operators();
  if (grid_.dimensions() == 2) std::swap(medium_.dt_over_rho0[1], medium_.dt_over_rho0[2]);
  p_ = make_zero_field<Real>(points_, space_.planes());
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!has_axis(axis)) continue;
    u_[axis] = make_zero_field<Real>(points_, space_.planes());
    rho_[axis] = make_zero_field<Real>(points_, space_.planes());
    densities_.push_back(&rho_[axis]);
    velocity_spectra_.push_back(&velocity_spectrum(axis));
    if (non_staggered_.samples() > 0) shifted_[axis] = make_zero_field<Real>(points_, space_.planes());
  }
  for (auto& spectrum : spectrum_) spectrum = space_.make_field();
  if (non_staggered_.samples() > 0) shift_.emplace(grid_, &AxisOperators<Real>::shift, sweeps_);
  prepare_sources(std::move(model.sources));
}

template <class Real>
void Solver<Real>::prepare_operators() {
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (const auto file_axis = grid_.file_axis(axis)) {
      pml_[axis] = make_pml_profile<Real>(grid_, *file_axis);
      operators_[axis] = make_axis_operators<Real>(grid_, *file_axis);
    }
  // Whole registers are taken out of the operators along x.
  for (auto* along_x : {&operators_[0].forward, &operators_[0].backward})
    along_x->resize(std::max(along_x->size(), static_cast<std::size_t>(space_.pitch())), Complex{});
  const double half_step = grid_.c_ref_m_s * grid_.dt_s / 2;
  const double normalise = 1.0 / static_cast<double>(points_.volume());
  const auto [rows, kx] = space_.columns();
  kappa_ = RadialTable<Real>(grid_, rows, kx, [&](double k) { return normalise * sinc(half_step * k); });
  if (physics_.absorption != Absorption::power_law) return;
  const double y = physics_.alpha_power;
  loss_table_ =
      RadialTable<Real>(grid_, rows, kx, [&](double k) { return normalise * power_of_k(k, y - 2); });
  delay_table_ =
      RadialTable<Real>(grid_, rows, kx, [&](double k) { return normalise * power_of_k(k, y - 1); });
}

template <class Real>
void Solver<Real>::prepare_sources(Sources<Real> sources) {
  initial_pressure_ = std::move(sources.initial_pressure);
  const auto is_filtered = [](const auto& source) { return source && source->mode == SourceMode::additive; };
  if (is_filtered(sources.pressure) ||
      std::any_of(sources.velocity.begin(), sources.velocity.end(), is_filtered)) {
    const double half_step = grid_.c_ref_m_s * grid_.dt_s / 2;
    const double normalise = 1.0 / static_cast<double>(points_.volume());
    source_kappa_ = RadialTable<Real>(grid_, space_.columns().y, space_.columns().kx,
                                      [&](double k) { return normalise * std::cos(half_step * k); });
  }
  const auto prepare = [&](auto& source, auto& term) {
    if (source) term.emplace(std::move(*source), grid_, source_kappa_, sweeps_);
  };
  prepare(sources.pressure, pressure_source_);
  prepare(sources.transducer, transducer_);
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (const auto file_axis = grid_.file_axis(axis))
      prepare(sources.velocity[*file_axis], velocity_source_[axis]);
}

template <class Real>
void Solver<Real>::rehearse() {
  const std::array all{&spectrum_[0], &spectrum_[1], &spectrum_[2]};
  sweeps_.rehearse(all);
}

template <class Real>
void Solver<Real>::advance(StepIndex step) {
  sweeps_.set_step(step);
  step_ = step;
  if (step == 1 && initial_pressure_) {
    start_from_initial_pressure();
  } else {
    if (pressure_source_) pressure_source_->prepare(step);
    for (auto& source : velocity_source_)
      if (source) source->prepare(step);
    pressure_gradients();
    update_velocities();
    velocity_gradients();
    update_densities();
    if (physics_.absorption == Absorption::power_law) absorb();
  }
  if (non_staggered_.is_due(step)) move_velocities_to_grid_points();
}

/// Spectrum 0 (pressure) becomes kappa P along z, spectrum 1 its z derivative; the x and y derivatives share
/// the former, so that one transform and one exchange fewer are needed than there are components.
template <class Real>
void Solver<Real>::pressure_gradients() {
  const std::array results{&spectrum_[0], &spectrum_[1]};
  sweeps_.columns(results, [&](auto& group) {
    group.forward(spectrum_[0]);
    for (std::int64_t z = 0; z < space_.nz(); ++z) {
      const Complex factor = operators_[2].forward[static_cast<std::size_t>(z)];
      const auto value = group.values()[z] * group.factors(kappa_, z);
      group.values(0)[z] = value;
      group.values(1)[z] = fft::times(value, factor.real(), factor.imag());
    }
    group.inverse(0, spectrum_[0]);
    group.inverse(1, spectrum_[1]);
  });
}

template <class Real>
void Solver<Real>::update_velocities() {
  // In this order, since the spectrum of u_y takes the place of kappa P, which x and y need.
  sweeps_.planes(velocity_spectra_, [&](const Slab& slab, Work& work) {
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
      if (!has_axis(axis)) continue;
      update_velocity(slab, axis, false, work);
      const std::array field{&u_[axis]};
      if (velocity_source_[axis]) velocity_source_[axis]->act(step_, slab, field, work);
      if (axis == 0 && transducer_) transducer_->act(step_, slab, field, work);
      sweeps_.forward(std::as_const(u_[axis]).rows(slab), slab, velocity_spectrum(axis), work);
    }
  });
}

/// The pressure gradient along `axis` on one slab, into work.real[0].
template <class Real>
void Solver<Real>::pressure_gradient(const Slab& slab, std::size_t axis, Work& work) {
  const auto gradient = work.rows_of(0);
  if (axis == 2) return sweeps_.inverse(spectrum_[1], slab, gradient, work);
  const auto spectrum = space_.rows(spectrum_[0], slab), derivative = work.spectrum_rows();
  const auto& forward = operators_[axis].forward;
  for (std::int64_t r = 0; r < slab.rows; ++r)
    if (axis == 0)
      kernels::scale(spectrum.row(r), forward.data(), derivative.row(r), space_.pitch());
    else
      kernels::scale(spectrum.row(r), forward[static_cast<std::size_t>(r)], derivative.row(r),
                     space_.pitch());
  space_.plane_transform().inverse(derivative, gradient, slab.rows, work.rows);
}

/// One slab of one velocity component.
template <class Real>
void Solver<Real>::update_velocity(const Slab& slab, std::size_t axis, bool initial, Work& work) {
  pressure_gradient(slab, axis, work);
  const std::int64_t nx = points_.x;
  for (std::int64_t r = 0; r < slab.rows; ++r) {
    const std::int64_t y = slab.y_of(r), z = slab.z_of(r);
    Real* u = u_[axis].rows(slab).row(r);
    const Real* gradient = work.rows_of(0).row(r);
    const Real* dt_over_rho0 = medium_.dt_over_rho0[axis].row(y, z);
    if (initial)
      kernels::initial_velocity(u, gradient, dt_over_rho0, nx);
    else
      kernels::velocity(u, gradient, dt_over_rho0, pml_row(axis, true, y, z, work), nx);
  }
}

/// The spectra of the velocities become their own derivatives.
template <class Real>
void Solver<Real>::velocity_gradients() {
  sweeps_.columns(velocity_spectra_, [&](auto& group) {
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
      if (!has_axis(axis)) continue;
      group.forward(velocity_spectrum(axis));
      differentiate(group, axis);
      group.inverse(0, velocity_spectrum(axis));
    }
  });
}

/// Multiplies columns by kappa and by the operator from velocities to densities.
template <class Real>
template <class Group>
void Solver<Real>::differentiate(Group& group, std::size_t axis) const {
  const auto& backward = operators_[axis].backward;
  auto* values = group.values();
  if (axis == 0) {
    const auto along_x = group.pair(backward.data());
    for (std::int64_t z = 0; z < space_.nz(); ++z)
      values[z] = fft::times(values[z] * group.factors(kappa_, z), along_x.re, along_x.im);
    return;
  }
  for (std::int64_t z = 0; z < space_.nz(); ++z) {
    const Complex factor = backward[static_cast<std::size_t>(axis == 1 ? group.y() : z)];
    values[z] = fft::times(values[z] * group.factors(kappa_, z), factor.real(), factor.imag());
  }
}

template <class Real>
void Solver<Real>::update_densities() {
  const std::array results{&spectrum_[0], &spectrum_[1]};
  const std::size_t count = physics_.absorption == Absorption::power_law ? 2 : 1;
  const bool flat = grid_.dimensions() == 2;
  sweeps_.planes(std::span(results).first(count), [&](const Slab& slab, Work& work) {
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (has_axis(axis)) sweeps_.inverse(velocity_spectrum(axis), slab, work.rows_of(axis), work);
    flat ? update_density<2>(slab, work) : update_density<3>(slab, work);
    if (pressure_source_) pressure_source_->act(step_, slab, densities_, work);
    flat ? update_pressure<2>(slab, work) : update_pressure<3>(slab, work);
    forward_after_density(slab, work);
  });
}

/// Describes what the next sweep needs of a slab: with power-law loss the spectra of mass flux and density,
/// else that of the finished pressure.
template <class Real>
void Solver<Real>::forward_after_density(const Slab& slab, Work& work) {
  if (physics_.absorption != Absorption::power_law)
    return sweeps_.forward(std::as_const(p_).rows(slab), slab, spectrum_[0], work);
  sweeps_.forward(std::as_const(work).rows_of(3), slab, spectrum_[0], work);
  sweeps_.forward(std::as_const(work).rows_of(0), slab, spectrum_[1], work);
}

/// Updates the split densities of one slab from the velocity derivatives in `work.real[0..2]`; leaves the
/// mass flux, which the loss terms need, in `work.real[3]`.
template <class Real>
template <int dimensions>
void Solver<Real>::update_density(const Slab& slab, Work& work) {
  const std::int64_t nx = points_.x;
  const auto dt = static_cast<Real>(grid_.dt_s);
  for (std::int64_t r = 0; r < slab.rows; ++r) {
    const std::int64_t y = slab.y_of(r), z = slab.z_of(r);
    const auto of = [&](std::size_t axis) {
      return dimensions == 3 || axis != 1 ? rho_[axis].rows(slab).row(r) : nullptr;
    };
    const auto layer = [&](std::size_t axis) {
      return dimensions == 3 || axis != 1 ? pml_row(axis, false, y, z, work) : nullptr;
    };
    const kernels::Rows<Real> rho{of(0), of(1), of(2)};
    const kernels::Rows<const Real> du{work.rows_of(0).row(r), work.rows_of(1).row(r),
                                       work.rows_of(2).row(r)};
    const kernels::Rows<const Real> pml{layer(0), layer(1), layer(2)};
    const Real* rho0 = medium_.rho0.row(y, z);
    if (physics_.nonlinear)
      kernels::density<dimensions, true>(rho, du, pml, rho0, dt, nx);
    else
      kernels::density<dimensions, false>(rho, du, pml, rho0, dt, nx);
    if (physics_.absorption != Absorption::none)
      kernels::mass_flux<dimensions>(du, rho0, work.rows_of(3).row(r), nx);
  }
}

/// The state equation on one slab, but for the loss by a power law, which takes transforms; the total
/// density goes to `work.real[0]`.
template <class Real>
template <int dimensions>
void Solver<Real>::update_pressure(const Slab& slab, Work& work) {
  const std::int64_t nx = points_.x;
  for (std::int64_t r = 0; r < slab.rows; ++r) {
    const std::int64_t y = slab.y_of(r), z = slab.z_of(r);
    const auto of = [&](std::size_t axis) {
      return dimensions == 3 || axis != 1 ? rho_[axis].rows(slab).row(r) : nullptr;
    };
    const kernels::Rows<const Real> rho{of(0), of(1), of(2)};
    Real* p = p_.rows(slab).row(r);
    Real* total = work.rows_of(0).row(r);
    if (physics_.nonlinear)
      kernels::pressure_nonlinear<dimensions>(rho, medium_.c0_squared.row(y, z),
                                              medium_.b_over_2a_rho0.row(y, z), p, total, nx);
    else
      kernels::pressure_linear<dimensions>(rho, medium_.c0_squared.row(y, z), p, total, nx);
    if (physics_.absorption == Absorption::stokes)
      kernels::stokes_loss(p, medium_.absorption.row(y, z), work.rows_of(3).row(r), nx);
  }
}

/// Power-law absorption and dispersion by fractional Laplacians (Treeby and Cox 2010): spectra 0 and 1 hold
/// the mass flux and the density.
template <class Real>
void Solver<Real>::absorb() {
  const std::array both{&spectrum_[0], &spectrum_[1]};
  const std::array<const RadialTable<Real>*, 2> tables{&loss_table_, &delay_table_};
  sweeps_.filter(both, tables);
  sweeps_.planes(std::span(both).first(1), [&](const Slab& slab, Work& work) {
    const auto loss = work.rows_of(0), delay = work.rows_of(1);
    sweeps_.inverse(spectrum_[0], slab, loss, work);
    sweeps_.inverse(spectrum_[1], slab, delay, work);
    for (std::int64_t r = 0; r < slab.rows; ++r) {
      const std::int64_t y = slab.y_of(r), z = slab.z_of(r);
      kernels::power_law_loss(p_.rows(slab).row(r), medium_.absorption.row(y, z), loss.row(r),
                              medium_.dispersion.row(y, z), delay.row(r), points_.x);
    }
    sweeps_.forward(std::as_const(p_).rows(slab), slab, spectrum_[0], work);
  });
}

template <class Real>
void Solver<Real>::transform_pressure() {
  const std::array result{&spectrum_[0]};
  sweeps_.planes(result, [&](const Slab& slab, Work& work) {
    sweeps_.forward(std::as_const(p_).rows(slab), slab, spectrum_[0], work);
  });
}

/// The first step with an initial pressure sets the state instead of computing it: p = p0, an equal share in
/// each split density, and the velocity that makes u(-dt/2) = -u(dt/2), so that the particles are at rest at
/// t = 0.
template <class Real>
void Solver<Real>::start_from_initial_pressure() {
  const auto shares = static_cast<Real>(grid_.dimensions());
#pragma omp parallel for schedule(static)
  for (std::int64_t z = space_.planes().begin; z < space_.planes().end; ++z) {
    std::copy_n(initial_pressure_->plane(z), points_.x * points_.y, p_.plane(z));
    for (std::int64_t y = 0; y < points_.y; ++y) {
      const Real* c0_squared = medium_.c0_squared.row(y, z);
      for (std::int64_t x = 0; x < points_.x; ++x) {
        const std::int64_t i = y * points_.x + x;
        const Real share = p_.plane(z)[i] / (shares * c0_squared[x]);
        for (auto& rho : rho_)
          if (!rho.empty()) rho.plane(z)[i] = share;
      }
    }
  }
  initial_pressure_->release();
  transform_pressure();
  pressure_gradients();
  sweeps_.planes({}, [&](const Slab& slab, Work& work) {
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (has_axis(axis)) update_velocity(slab, axis, true, work);
  });
  transform_pressure();
}

template <class Real>
void Solver<Real>::move_velocities_to_grid_points() {
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has_axis(axis)) shift_->apply(axis, u_[axis], shifted_[axis]);
}

/// The layer's factors along a row: they vary along x for the x axis and are one number for the others.
template <class Real>
const Real* Solver<Real>::pml_row(std::size_t axis, bool velocity, std::int64_t y, std::int64_t z,
                                  Work& work) const {
  const auto& profile = velocity ? pml_[axis].velocity : pml_[axis].density;
  if (axis == 0) return profile.data();
  auto& row = work.constant[axis - 1];
  std::fill(row.begin(), row.end(), profile[static_cast<std::size_t>(axis == 1 ? y : z)]);
  return row.data();
}

template <class Real>
output::FieldView Solver<Real>::field(const std::string& quantity) const {
  if (quantity == "p") return field_view(grid_, p_);
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const auto file_axis = grid_.file_axis(axis);
    if (!file_axis) continue;
    const std::string name = std::string("u") + axis_names[*file_axis];
    if (quantity == name) return field_view(grid_, u_[axis]);
    if (quantity == name + "_non_staggered") return field_view(grid_, shifted_[axis]);
  }
  TAILRACE_CHECK(false, "unknown quantity " + quantity);
}

template <class Real>
void Solver<Real>::state(checkpoint::StateArchive& archive) {
  const auto add = [&](const std::string& name, Field<Real>& field) {
    const auto view = field_view(grid_, field);
    archive.field(name, {.data = field.data(),
                         .type = view.type,
                         .domain = grid_.points,
                         .box = view.box,
                         .stride_y = view.stride_y,
                         .stride_z = view.stride_z});
  };
  archive.component("sound", 1, [&](int) {
    add("p", p_);
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (const auto file_axis = grid_.file_axis(axis)) {
        add(std::string("rho") + axis_names[*file_axis], rho_[axis]);
        add(std::string("u") + axis_names[*file_axis] + "_sg" + axis_names[*file_axis], u_[axis]);
      }
  });
}

/// The spectra that the next step begins with are put back at the end.
template <class Real>
void Solver<Real>::with_velocity_gradients(const ArrayUse& use) {
  std::array<Field<Real>, axis_count> gradients;
  std::vector<StateArray> arrays;
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (const auto file_axis = grid_.file_axis(axis)) {
      auto& field = gradients[axis] = make_zero_field<Real>(points_, space_.planes());
      const auto view = field_view(grid_, field);
      const char name = axis_names[*file_axis];
      arrays.push_back({.name = {'d', 'u', name, 'd', name},
                        .data = field.data(),
                        .type = view.type,
                        .box = view.box,
                        .stride_y = view.stride_y,
                        .stride_z = view.stride_z});
    }
  sweeps_.planes(velocity_spectra_, [&](const Slab& slab, Work& work) {
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (has_axis(axis))
        sweeps_.forward(std::as_const(u_[axis]).rows(slab), slab, velocity_spectrum(axis), work);
  });
  velocity_gradients();
  sweeps_.planes({}, [&](const Slab& slab, Work& work) {
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (has_axis(axis)) sweeps_.inverse(velocity_spectrum(axis), slab, gradients[axis].rows(slab), work);
  });
  transform_pressure();
  use(arrays);
}

template <class Real>
void Solver<Real>::restored(StepIndex step) {
  sweeps_.set_step(step);
  if (initial_pressure_) initial_pressure_->release();
  transform_pressure();
}

template <class Real>
std::int64_t Solver<Real>::saved_bytes() const noexcept {
  std::int64_t sum = 0;
  for (const auto& field : u_) sum += field.bytes();
  return sum;
}

template <class Real>
std::int64_t Solver<Real>::memory_bytes() const noexcept {
  std::int64_t sum = medium_.bytes() + p_.bytes() + kappa_.bytes() + source_kappa_.bytes() +
                     loss_table_.bytes() + delay_table_.bytes() + sweeps_.bytes() +
                     static_cast<std::int64_t>(spectrum_.size()) * space_.field_bytes();
  for (const auto* fields : {&u_, &rho_, &shifted_})
    for (const auto& field : *fields) sum += field.bytes();
  const auto add = [&](const auto& part) {
    if (part) sum += part->bytes();
  };
  add(initial_pressure_);
  add(pressure_source_);
  add(transducer_);
  for (const auto& source : velocity_source_) add(source);
  add(shift_);
  return sum;
}

template class Solver<float>;
template class Solver<double>;

}  // namespace tailrace::ultrasound
