// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

/// The element-wise parts of a time step, one row of n points at a time: no communication, no memory of their
/// own. Each pointer names n values; outputs never overlap inputs unless they are the same array. `Real` is
/// float or double; `dimensions` is 2 or 3, in two dimensions the y rows of the folded frame do not exist.
/// Equation numbers are those of docs/explain/ultrasound.md, after Treeby, Jaros, Rendell and Cox, J. Acoust.
/// Soc. Am. 131, 4324 (2012).
namespace tailrace::ultrasound::kernels {

namespace detail {
// Complex arithmetic on interleaved reals: std::complex's own product checks for infinities and does not
// vectorise.
template <class Real>
const Real* raw(const std::complex<Real>* values) {
  return reinterpret_cast<const Real*>(values);
}
template <class Real>
Real* raw(std::complex<Real>* values) {
  return reinterpret_cast<Real*>(values);
}
}  // namespace detail

/// out = in * factor for complex rows.
template <class Real>
void scale(const std::complex<Real>* in, const std::complex<Real>* factor, std::complex<Real>* out,
           std::int64_t n) noexcept {
  const Real* a = detail::raw(in);
  const Real* f = detail::raw(factor);
  Real* __restrict o = detail::raw(out);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    o[2 * i] = a[2 * i] * f[2 * i] - a[2 * i + 1] * f[2 * i + 1];
    o[2 * i + 1] = a[2 * i] * f[2 * i + 1] + a[2 * i + 1] * f[2 * i];
  }
}

/// out = in * factor for a complex row and one complex number.
template <class Real>
void scale(const std::complex<Real>* in, std::complex<Real> factor, std::complex<Real>* out,
           std::int64_t n) noexcept {
  const Real* a = detail::raw(in);
  Real* __restrict o = detail::raw(out);
  const Real re = factor.real(), im = factor.imag();
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    o[2 * i] = a[2 * i] * re - a[2 * i + 1] * im;
    o[2 * i + 1] = a[2 * i] * im + a[2 * i + 1] * re;
  }
}

/// values *= factor, complex factors.
template <class Real>
void scale_in_place(std::complex<Real>* values, const std::complex<Real>* factor, std::int64_t n) noexcept {
  Real* __restrict v = detail::raw(values);
  const Real* f = detail::raw(factor);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const Real re = v[2 * i], im = v[2 * i + 1];
    v[2 * i] = re * f[2 * i] - im * f[2 * i + 1];
    v[2 * i + 1] = re * f[2 * i + 1] + im * f[2 * i];
  }
}

/// values *= factor, one complex number.
template <class Real>
void scale_in_place(std::complex<Real>* values, std::complex<Real> factor, std::int64_t n) noexcept {
  Real* __restrict v = detail::raw(values);
  const Real f_re = factor.real(), f_im = factor.imag();
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const Real re = v[2 * i], im = v[2 * i + 1];
    v[2 * i] = re * f_re - im * f_im;
    v[2 * i + 1] = re * f_im + im * f_re;
  }
}

/// values *= factor, real factors.
template <class Real>
void scale_in_place(std::complex<Real>* values, const Real* factor, std::int64_t n) noexcept {
  Real* __restrict v = detail::raw(values);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    v[2 * i] *= factor[i];
    v[2 * i + 1] *= factor[i];
  }
}

/// values *= factor * phase, real factors and one complex phase.
template <class Real>
void scale_in_place(std::complex<Real>* values, const Real* factor, std::complex<Real> phase,
                    std::int64_t n) noexcept {
  Real* __restrict v = detail::raw(values);
  const Real p_re = phase.real(), p_im = phase.imag();
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const Real re = v[2 * i] * factor[i], im = v[2 * i + 1] * factor[i];
    v[2 * i] = re * p_re - im * p_im;
    v[2 * i + 1] = re * p_im + im * p_re;
  }
}

/// values *= factor * phase, real factors and complex phases.
template <class Real>
void scale_in_place(std::complex<Real>* values, const Real* factor, const std::complex<Real>* phase,
                    std::int64_t n) noexcept {
  Real* __restrict v = detail::raw(values);
  const Real* p = detail::raw(phase);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const Real re = v[2 * i] * factor[i], im = v[2 * i + 1] * factor[i];
    v[2 * i] = re * p[2 * i] - im * p[2 * i + 1];
    v[2 * i + 1] = re * p[2 * i + 1] + im * p[2 * i];
  }
}

/// Momentum (1): u = q (q u - dt/rho0 grad p).
template <class Real>
void velocity(Real* u, const Real* gradient, const Real* dt_over_rho0, const Real* pml,
              std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) u[i] = pml[i] * (pml[i] * u[i] - dt_over_rho0[i] * gradient[i]);
}

/// Velocity half a step before an initial pressure: u = dt/(2 rho0) grad p0.
template <class Real>
void initial_velocity(Real* u, const Real* gradient, const Real* dt_over_rho0, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) u[i] = Real(0.5) * dt_over_rho0[i] * gradient[i];
}

/// The split densities of a row, or the derivatives, or the layers. In two dimensions y is not looked at.
template <class Real>
struct Rows {
  Real *x, *y, *z;
};

namespace detail {
template <int dimensions, class Real>
[[gnu::always_inline]] inline Real sum(const Rows<Real>& rows, std::int64_t i) noexcept {
  if constexpr (dimensions == 3) return rows.x[i] + rows.y[i] + rows.z[i];
  return rows.x[i] + rows.z[i];
}
}  // namespace detail

/// Mass conservation (2): rho_a = q_a (q_a rho_a - dt m du_a), where m is rho0, or, if `nonlinear`, rho0 + 2
/// rho with the total density before the update.
template <int dimensions, bool nonlinear, class Real>
void density(Rows<Real> rho, Rows<const Real> du, Rows<const Real> pml, const Real* rho0, Real dt,
             std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    Real mass = rho0[i];
    if constexpr (nonlinear) mass += Real(2) * detail::sum<dimensions>(rho, i);
    const Real rate = dt * mass;
    rho.x[i] = pml.x[i] * (pml.x[i] * rho.x[i] - rate * du.x[i]);
    if constexpr (dimensions == 3) rho.y[i] = pml.y[i] * (pml.y[i] * rho.y[i] - rate * du.y[i]);
    rho.z[i] = pml.z[i] * (pml.z[i] * rho.z[i] - rate * du.z[i]);
  }
}

/// out = rho0 div u.
template <int dimensions, class Real>
void mass_flux(Rows<const Real> du, const Real* rho0, Real* out, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) out[i] = rho0[i] * detail::sum<dimensions>(du, i);
}

/// State equation (3) without loss: p = c0^2 rho; total = rho.
template <int dimensions, class Real>
void pressure_linear(Rows<const Real> rho, const Real* c0_squared, Real* p, Real* total,
                     std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const Real sum = detail::sum<dimensions>(rho, i);
    total[i] = sum;
    p[i] = c0_squared[i] * sum;
  }
}

/// State equation (3) without loss: p = c0^2 (rho + (B/2A) rho^2 / rho0); total = rho.
template <int dimensions, class Real>
void pressure_nonlinear(Rows<const Real> rho, const Real* c0_squared, const Real* b_over_2a_rho0, Real* p,
                        Real* total, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const Real sum = detail::sum<dimensions>(rho, i);
    total[i] = sum;
    p[i] = c0_squared[i] * (sum + b_over_2a_rho0[i] * sum * sum);
  }
}

/// Power-law loss in (3): p += absorption * loss - dispersion * delay.
template <class Real>
void power_law_loss(Real* p, const Real* absorption, const Real* loss, const Real* dispersion,
                    const Real* delay, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) p[i] += absorption[i] * loss[i] - dispersion[i] * delay[i];
}

/// Stokes loss in (3): p += absorption * rho0 div u.
template <class Real>
void stokes_loss(Real* p, const Real* absorption, const Real* mass_flux, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) p[i] += absorption[i] * mass_flux[i];
}

/// field += factor * source.
template <class Real>
void add_source(Real* field, const Real* source, Real factor, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) field[i] += factor * source[i];
}

}  // namespace tailrace::ultrasound::kernels
