// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "device/device.hpp"

/// The element-wise parts of a time step on a device, fused as far as transforms allow: what kernels.hpp does
/// for the processor. All pointers are into the memory of the device, and everything comes behind what the
/// queue has. All functions @local. Errors (resource): the device refused. `Real` is float or double.
namespace tailrace::ultrasound::on_device {

/// As the device's FFT has it.
template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

/// This rank's points. In the folded frame; the place of a point among them is a number below `count`.
struct Points {
  std::uint32_t nx = 0, ny = 0, planes = 0;
  std::uint32_t pitch =
      0;  ///< values of a row of a spectrum. In place of them are twice as many real numbers.

  [[nodiscard]] std::int64_t count() const noexcept { return std::int64_t{nx} * ny * planes; }
  [[nodiscard]] std::int64_t spectrum_count() const noexcept { return std::int64_t{pitch} * ny * planes; }
};

/// This rank's columns along z, kx fastest, then y.
struct ColumnBlock {
  std::uint32_t kx = 0, y = 0, nz = 0;

  [[nodiscard]] std::int64_t columns() const noexcept { return std::int64_t{kx} * y; }
  [[nodiscard]] std::int64_t count() const noexcept { return columns() * nz; }
};

/// A material parameter: a value for each point, or one for all.
template <class Real>
struct Parameter {
  const Real* values = nullptr;
  Real constant = 0;
};

/// What is added to a field: a number for each point, times a factor. Null: nothing.
template <class Real>
struct Pattern {
  const Real* values = nullptr;
  Real factor = 0;
};

/// first = kappa first; second = along_z first, for the gradients of the pressure. `kappa` has half of the z.
template <class Real>
void share_gradient(device::Queue& queue, const ColumnBlock& block, Complex<Real>* first,
                    Complex<Real>* second, const Real* kappa, const Complex<Real>* along_z);

/// Multiplies up to three spectra, those that are not null, by a table of their own and each by factors along
/// an axis of its own: spectrum i along axis i, if it has factors.
template <class Real>
struct ColumnProducts {
  std::array<Complex<Real>*, 3> spectra{};
  std::array<const Real*, 3> tables{};            ///< half of the z; null: none
  std::array<const Complex<Real>*, 3> factors{};  ///< of this rank's kx, y, and of all z; null: none
};
template <class Real>
void multiply(device::Queue& queue, const ColumnBlock& block, const ColumnProducts<Real>& products);

/// out = in times factors along x; in = in times factors along y: each unless its factors are null. They may
/// be one spectrum if one of both is.
template <class Real>
void differentiate(device::Queue& queue, const Points& points, Complex<Real>* in, Complex<Real>* out,
                   const Complex<Real>* along_x, const Complex<Real>* along_y);

/// Momentum: u = q (q u - dt/rho0 gradient), or, `initial`, half of the last term alone; and the pattern.
template <class Real>
struct VelocityUpdate {
  Real* u = nullptr;
  const Real* gradient = nullptr;  ///< in place of a spectrum
  Parameter<Real> dt_over_rho0;
  const Real* layer = nullptr;  ///< of the axis, from this rank's first plane on
  int axis = 0;
  bool initial = false;
  Pattern<Real> pattern;
};
template <class Real>
void update_velocity(device::Queue& queue, const Points& points, const VelocityUpdate<Real>& update);

/// Mass and state: the split densities, or the pressure, or one behind the other.
template <class Real>
struct DensityUpdate {
  bool updates_density = true, updates_pressure = true;
  bool nonlinear = false;
  std::array<Real*, 3> rho{};              ///< null: there is no such axis
  std::array<const Real*, 3> gradients{};  ///< of the velocities, in place of spectra
  std::array<const Real*, 3> layers{};
  Pattern<Real> pattern;  ///< added to every split density
  Real dt = 0;
  Parameter<Real> rho0, c0_squared, b_over_2a_rho0, absorption;
  Real* p = nullptr;
  /// In place of spectra, unless null: rho0 div u, which may be in place of a gradient, and all of rho.
  Real *mass_flux = nullptr, *total = nullptr;
  bool stokes = false;  ///< p += absorption * mass_flux
};
template <class Real>
void update_density(device::Queue& queue, const Points& points, const DensityUpdate<Real>& update);

/// p += absorption loss - dispersion delay, the last two in place of spectra.
template <class Real>
struct PowerLawLoss {
  Real* p = nullptr;
  Parameter<Real> absorption, dispersion;
  const Real *loss = nullptr, *delay = nullptr;
};
template <class Real>
void lose(device::Queue& queue, const Points& points, const PowerLawLoss<Real>& loss);

/// An equal share of p / c0^2 to each split density.
template <class Real>
void share_density(device::Queue& queue, const Points& points, const Real* p,
                   const Parameter<Real>& c0_squared, const std::array<Real*, 3>& rho);

/// out = real numbers in place of a spectrum; or fields += them, those that are not null.
template <class Real>
void take_out(device::Queue& queue, const Points& points, const Real* in_place, Real* out);
template <class Real>
void add(device::Queue& queue, const Points& points, const Real* in_place,
         const std::array<Real*, 3>& fields);

/// Points at which a source acts. Points that are named several times are together.
template <class Real>
struct SourcePoints {
  std::int64_t count = 0;             ///< of different ones
  const std::uint32_t* at = nullptr;  ///< where each is
  const std::uint32_t* first =
      nullptr;  ///< its first name; the names of one end where those of the next begin
  const std::uint32_t* names = nullptr;  ///< their places in the source
  const Real* signals = nullptr;
  const std::int64_t* delays = nullptr;  ///< null: none
  std::int64_t names_count = 0;
  bool one_signal = true, replaces = false;  ///< the field takes the value, else it is added
};
/// Each point, as often as it is named, in all fields that are not null. `t`: see `PointSource::value`.
template <class Real>
void act_at_points(device::Queue& queue, const SourcePoints<Real>& source, std::int64_t t,
                   const std::array<Real*, 3>& fields);
/// Puts the last value of each point into real numbers in place of a spectrum; `ones`: 1 instead.
template <class Real>
void scatter(device::Queue& queue, const Points& points, const SourcePoints<Real>& source, std::int64_t t,
             bool ones, Real* in_place);

}  // namespace tailrace::ultrasound::on_device
