#include "solver.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels.hpp"
#include "solver_sweeps.hpp"
#include "tailrace/base/check.hpp"

namespace tailrace::ultrasound {

namespace {

/// A field of zeros, each page first touched by the thread that will use it.
Field make_zero_field(Index3 grid, Range planes) {
  Field field(grid, planes);
#pragma omp parallel for schedule(static)
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    std::fill_n(field.plane(z), field.stride_z(), 0.0F);
  return field;
}

double sinc(double a) {
  return a == 0 ? 1 : std::sin(a) / a;
}

/// |k|^power, with the infinite value at k = 0 left out.
double power_of_k(double k, double power) {
  return k == 0 && power < 0 ? 0 : std::pow(k, power);
}

}  // namespace

Range PressureSource::in_plane(std::int64_t z) const noexcept {
  const auto by_plane = [](const Index3& a, const Index3& b) { return a.z < b.z; };
  const auto [first, last] = std::equal_range(points.begin(), points.end(), Index3{0, 0, z}, by_plane);
  return {first - points.begin(), last - points.begin()};
}

Solver::Solver(mpi::CommView comm, Model model, trace::Log& log)
    : comm_(comm),
      log_(log),
      grid_(model.grid),
      physics_(model.physics),
      medium_(std::move(model.medium)),
      source_(std::move(model.pressure_source)),
      initial_pressure_(std::move(model.initial_pressure)),
      space_(comm, model.grid.points) {
  const double half_step = grid_.c_ref_m_s * grid_.dt_s / 2;
  const double normalise = 1.0 / static_cast<double>(grid_.points.volume());
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    pml_[axis] = make_pml_profile(grid_, axis);
    derivative_[axis] = make_shifted_derivative(grid_, axis);
    u_[axis] = make_zero_field(grid_.points, space_.planes());
    rho_[axis] = make_zero_field(grid_.points, space_.planes());
  }
  p_ = make_zero_field(grid_.points, space_.planes());
  kappa_ = RadialTable(grid_, space_.rows(), [&](double k) { return normalise * sinc(half_step * k); });
  if (physics_.absorbing) {
    const double y = physics_.alpha_power;
    loss_table_ =
        RadialTable(grid_, space_.rows(), [&](double k) { return normalise * power_of_k(k, y - 2); });
    delay_table_ =
        RadialTable(grid_, space_.rows(), [&](double k) { return normalise * power_of_k(k, y - 1); });
  }
  for (auto& field : spectrum_) field = space_.make_field();
  const auto plane = static_cast<std::size_t>(grid_.points.x * grid_.points.y);
  workspaces_.resize(static_cast<std::size_t>(omp_get_max_threads()));
  for (auto& work : workspaces_) {
    work.transform = space_.plane_transform().make_scratch();
    work.spectrum.resize(static_cast<std::size_t>(space_.pitch() * space_.ny()), Complex{});
    for (auto& real : work.real) real.resize(plane);
    for (auto& block : work.block) block = space_.column_transform().make_block();
    for (auto& row : work.constant) row.resize(static_cast<std::size_t>(grid_.points.x));
  }
  prepare_source();
}

void Solver::rehearse() {
  const auto exchange = [&](const auto& begin) {
    std::vector<SpectralSpace::Exchange> exchanges;
    for (auto& field : spectrum_) exchanges.push_back(begin(field));
    for (int k = 0; k < space_.pieces(); ++k)
      for (auto& each : exchanges) each.start(k);
    for (auto& each : exchanges) each.finish();
  };
  for (int round = 0; round < 2; ++round) {  // the second finds what the first one's pace left out
    exchange([&](SpectralField& field) { return space_.begin_to_rows(field); });
    exchange([&](SpectralField& field) { return space_.begin_to_planes(field); });
  }
}

void Solver::advance(StepIndex step) {
  step_ = step;
  if (step == 1 && initial_pressure_) return start_from_initial_pressure();
  filter_source();
  pressure_gradients();
  update_velocities();
  velocity_gradients();
  update_densities();
  if (physics_.absorbing) absorb();
}

/// Spectrum 0 (pressure) becomes kappa P along z, spectrum 1 its z derivative; the x and y derivatives share
/// the former, so that one transform and one exchange fewer are needed than there are components.
void Solver::pressure_gradients() {
  const std::array results{&spectrum_[0], &spectrum_[1]};
  const auto& columns = space_.column_transform();
  const std::int64_t width = columns.width();
  sweep_rows(results, [&](std::int64_t y, std::int64_t kx, Workspace& work) {
    Complex* values = work.block[0].data();
    Complex* derivative = work.block[1].data();
    const std::int64_t count = std::clamp<std::int64_t>(space_.half_nx() - kx, 0, width);
    space_.load(spectrum_[0], y, kx, values);
    columns.forward(values);
    for (std::int64_t z = 0; z < space_.nz(); ++z) {
      kernels::scale_in_place(values + z * width, kappa_.row(y, z) + kx, count);
      kernels::scale(values + z * width, derivative_[2].forward[static_cast<std::size_t>(z)],
                     derivative + z * width, width);
    }
    columns.inverse(values);
    columns.inverse(derivative);
    space_.store(values, y, kx, spectrum_[0]);
    space_.store(derivative, y, kx, spectrum_[1]);
  });
}

void Solver::update_velocities() {
  const std::array results{&spectrum_[2], &spectrum_[0], &spectrum_[1]};  // of x, y, z
  sweep_planes(results, [&](std::int64_t z, Workspace& work) {
    velocity_plane(z, 0, space_.plane(spectrum_[0], z), false, work);
    forward_plane(u_[0].plane(z), z, spectrum_[2], work);
    velocity_plane(z, 1, space_.plane(spectrum_[0], z), false, work);
    forward_plane(u_[1].plane(z), z, spectrum_[0], work);
    velocity_plane(z, 2, space_.plane(spectrum_[1], z), false, work);
    forward_plane(u_[2].plane(z), z, spectrum_[1], work);
  });
}

/// One plane of one velocity component. `spectrum` is kappa P for x and y, which still lack their derivative,
/// and the finished derivative for z, which is used up.
void Solver::velocity_plane(std::int64_t z, std::size_t axis, Complex* spectrum, bool initial,
                            Workspace& work) {
  const std::int64_t nx = grid_.points.x, half_nx = space_.half_nx(), pitch = space_.pitch();
  Complex* derivative = axis == 2 ? spectrum : work.spectrum.data();
  for (std::int64_t y = 0; y < space_.ny() && axis < 2; ++y) {
    const auto& forward = derivative_[axis].forward;
    if (axis == 0)
      kernels::scale(spectrum + y * pitch, forward.data(), derivative + y * pitch, half_nx);
    else
      kernels::scale(spectrum + y * pitch, forward[static_cast<std::size_t>(y)], derivative + y * pitch,
                     half_nx);
  }
  float* gradient = work.real[0].data();
  space_.plane_transform().inverse(derivative, gradient, work.transform);
  for (std::int64_t y = 0; y < space_.ny(); ++y) {
    float* u = u_[axis].plane(z) + y * nx;
    const float* dt_over_rho0 = medium_.dt_over_rho0[axis].row(y, z);
    if (initial)
      kernels::initial_velocity(u, gradient + y * nx, dt_over_rho0, nx);
    else
      kernels::velocity(u, gradient + y * nx, dt_over_rho0, pml_row(axis, true, y, z, work), nx);
  }
}

/// Spectra 2, 0, 1 (u_x, u_y, u_z) become their own derivatives.
void Solver::velocity_gradients() {
  const std::array results{&spectrum_[2], &spectrum_[0], &spectrum_[1]};
  const auto& columns = space_.column_transform();
  const std::int64_t width = columns.width();
  sweep_rows(results, [&](std::int64_t y, std::int64_t kx, Workspace& work) {
    Complex* values = work.block[0].data();
    const std::int64_t count = std::clamp<std::int64_t>(space_.half_nx() - kx, 0, width);
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
      space_.load(*results[axis], y, kx, values);
      columns.forward(values);
      for (std::int64_t z = 0; z < space_.nz(); ++z) {
        const float* kappa = kappa_.row(y, z) + kx;
        const auto& backward = derivative_[axis].backward;
        if (axis == 0)
          kernels::scale_in_place(values + z * width, kappa, backward.data() + kx, count);
        else
          kernels::scale_in_place(values + z * width, kappa,
                                  backward[static_cast<std::size_t>(axis == 1 ? y : z)], count);
      }
      columns.inverse(values);
      space_.store(values, y, kx, *results[axis]);
    }
  });
}

void Solver::update_densities() {
  const std::array results{&spectrum_[0], &spectrum_[1]};
  const std::size_t count = physics_.absorbing ? 2 : 1;
  sweep_planes(std::span(results).first(count), [&](std::int64_t z, Workspace& work) {
    inverse_plane(spectrum_[2], z, work.real[0].data(), work);
    inverse_plane(spectrum_[0], z, work.real[1].data(), work);
    inverse_plane(spectrum_[1], z, work.real[2].data(), work);
    density_plane(z, work);
    add_source_plane(z, work);
    pressure_plane(z, work.real[0].data());
    if (physics_.absorbing) {
      forward_plane(work.real[3].data(), z, spectrum_[0], work);
      forward_plane(work.real[0].data(), z, spectrum_[1], work);
    } else {
      forward_plane(p_.plane(z), z, spectrum_[0], work);
    }
  });
}

/// Updates the split densities of one plane from the velocity derivatives in `work.real[0..2]`; leaves the
/// mass flux, which the loss term needs, in `work.real[3]`.
void Solver::density_plane(std::int64_t z, Workspace& work) {
  const std::int64_t nx = grid_.points.x;
  const auto dt = static_cast<float>(grid_.dt_s);
  for (std::int64_t y = 0; y < space_.ny(); ++y) {
    const std::int64_t at = y * nx;
    const kernels::Rows rho{rho_[0].plane(z) + at, rho_[1].plane(z) + at, rho_[2].plane(z) + at};
    const kernels::ConstRows du{work.real[0].data() + at, work.real[1].data() + at, work.real[2].data() + at};
    const kernels::ConstRows pml{pml_row(0, false, y, z, work), pml_row(1, false, y, z, work),
                                 pml_row(2, false, y, z, work)};
    const float* rho0 = medium_.rho0.row(y, z);
    if (physics_.nonlinear)
      kernels::density_nonlinear(rho, du, pml, rho0, dt, nx);
    else
      kernels::density_linear(rho, du, pml, rho0, dt, nx);
    if (physics_.absorbing) kernels::mass_flux(du, rho0, work.real[3].data() + at, nx);
  }
}

/// The state equation without its loss term on one plane; the total density goes to `total`.
void Solver::pressure_plane(std::int64_t z, float* total) {
  const std::int64_t nx = grid_.points.x;
  for (std::int64_t y = 0; y < space_.ny(); ++y) {
    const std::int64_t at = y * nx;
    const kernels::ConstRows rho{rho_[0].plane(z) + at, rho_[1].plane(z) + at, rho_[2].plane(z) + at};
    float* p = p_.plane(z) + at;
    if (physics_.nonlinear)
      kernels::pressure_nonlinear(rho, medium_.c0_squared.row(y, z), medium_.b_over_2a_rho0.row(y, z), p,
                                  total + at, nx);
    else
      kernels::pressure_linear(rho, medium_.c0_squared.row(y, z), p, total + at, nx);
  }
}

/// Power-law absorption and dispersion by fractional Laplacians (Treeby and Cox 2010): spectra 0 and 1 hold
/// the mass flux and the density.
void Solver::absorb() {
  const std::array both{&spectrum_[0], &spectrum_[1]};
  const std::array tables{&loss_table_, &delay_table_};
  sweep_rows(both, [&](std::int64_t y, std::int64_t kx, Workspace& work) {
    for (std::size_t i = 0; i < both.size(); ++i) filter_columns(*both[i], *tables[i], y, kx, work);
  });
  const std::int64_t nx = grid_.points.x;
  sweep_planes(std::span(both).first(1), [&](std::int64_t z, Workspace& work) {
    const float* loss = work.real[0].data();
    const float* delay = work.real[1].data();
    inverse_plane(spectrum_[0], z, work.real[0].data(), work);
    inverse_plane(spectrum_[1], z, work.real[1].data(), work);
    for (std::int64_t y = 0; y < space_.ny(); ++y)
      kernels::pressure_loss(p_.plane(z) + y * nx, medium_.absorption.row(y, z), loss + y * nx,
                             medium_.dispersion.row(y, z), delay + y * nx, nx);
    forward_plane(p_.plane(z), z, spectrum_[0], work);
  });
}

/// The first step with an initial pressure sets the state instead of computing it: p = p0, an equal share in
/// each split density, and the velocity that makes u(-dt/2) = -u(dt/2), so that the particles are at rest at
/// t = 0.
void Solver::start_from_initial_pressure() {
  const std::int64_t points = grid_.points.x * grid_.points.y;
  const auto transform_pressure = [&] {
    const std::array result{&spectrum_[0]};
    sweep_planes(result,
                 [&](std::int64_t z, Workspace& work) { forward_plane(p_.plane(z), z, spectrum_[0], work); });
  };
#pragma omp parallel for schedule(static)
  for (std::int64_t z = space_.planes().begin; z < space_.planes().end; ++z) {
    std::copy_n(initial_pressure_->plane(z), points, p_.plane(z));
    for (std::int64_t y = 0; y < grid_.points.y; ++y) {
      const float* c0_squared = medium_.c0_squared.row(y, z);
      for (std::int64_t x = 0; x < grid_.points.x; ++x) {
        const std::int64_t i = y * grid_.points.x + x;
        const float share = p_.plane(z)[i] / (static_cast<float>(axis_count) * c0_squared[x]);
        for (auto& rho : rho_) rho.plane(z)[i] = share;
      }
    }
  }
  initial_pressure_->release();
  transform_pressure();
  pressure_gradients();
  sweep_planes({}, [&](std::int64_t z, Workspace& work) {
    velocity_plane(z, 0, space_.plane(spectrum_[0], z), true, work);
    velocity_plane(z, 1, space_.plane(spectrum_[0], z), true, work);
    velocity_plane(z, 2, space_.plane(spectrum_[1], z), true, work);
  });
  transform_pressure();
}

/// Multiplies a block of columns of a spectrum by real factors, in the midst of its transforms along z.
void Solver::filter_columns(SpectralField& field, const RadialTable& table, std::int64_t y, std::int64_t kx,
                            Workspace& work) {
  const auto& columns = space_.column_transform();
  const std::int64_t width = columns.width();
  const std::int64_t count = std::clamp<std::int64_t>(space_.half_nx() - kx, 0, width);
  Complex* values = work.block[0].data();
  space_.load(field, y, kx, values);
  columns.forward(values);
  for (std::int64_t z = 0; z < space_.nz(); ++z)
    kernels::scale_in_place(values + z * width, table.row(y, z) + kx, count);
  columns.inverse(values);
  space_.store(values, y, kx, field);
}

void Solver::inverse_plane(SpectralField& field, std::int64_t z, float* real, Workspace& work) {
  space_.plane_transform().inverse(space_.plane(field, z), real, work.transform);
}

void Solver::forward_plane(const float* real, std::int64_t z, SpectralField& field, Workspace& work) {
  space_.plane_transform().forward(real, space_.plane(field, z), work.transform);
}

/// The layer's factors along a row: they vary along x for the x axis and are one number for the others.
const float* Solver::pml_row(std::size_t axis, bool velocity, std::int64_t y, std::int64_t z,
                             Workspace& work) const {
  const auto& profile = velocity ? pml_[axis].velocity : pml_[axis].density;
  if (axis == 0) return profile.data();
  auto& row = work.constant[axis - 1];
  const float value = profile[static_cast<std::size_t>(axis == 1 ? y : z)];
  std::fill(row.begin(), row.end(), value);
  return row.data();
}

output::FieldView Solver::field(const std::string& quantity) const {
  const Field* field = quantity == "p"    ? &p_
                       : quantity == "ux" ? &u_[0]
                       : quantity == "uy" ? &u_[1]
                       : quantity == "uz" ? &u_[2]
                                          : nullptr;
  TAILRACE_CHECK(field != nullptr, "unknown quantity " + quantity);
  return {.data = field->empty() ? nullptr : field->plane(field->planes().begin),
          .type = h5::ElementType::float32,
          .box = field->box(),
          .stride_y = field->stride_y(),
          .stride_z = field->stride_z()};
}

std::int64_t Solver::Workspace::bytes() const noexcept {
  std::size_t sum = (transform.pairs.size() + spectrum.size()) * sizeof(Complex);
  for (const auto& values : real) sum += values.size() * sizeof(float);
  for (const auto& values : block) sum += values.size() * sizeof(Complex);
  for (const auto& values : constant) sum += values.size() * sizeof(float);
  return static_cast<std::int64_t>(sum);
}

std::int64_t Solver::memory_bytes() const noexcept {
  std::int64_t sum = medium_.bytes() + p_.bytes() + source_pattern_.bytes() + kappa_.bytes() +
                     source_kappa_.bytes() + loss_table_.bytes() + delay_table_.bytes() +
                     3 * space_.field_bytes();
  for (std::size_t axis = 0; axis < axis_count; ++axis) sum += u_[axis].bytes() + rho_[axis].bytes();
  for (const auto& work : workspaces_) sum += work.bytes();
  if (!source_spectrum_.planes.empty()) sum += space_.field_bytes();
  if (source_) sum += source_->bytes();
  if (initial_pressure_) sum += initial_pressure_->bytes();
  return sum;
}

}  // namespace tailrace::ultrasound
