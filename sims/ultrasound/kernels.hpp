#pragma once

#include <cstdint>

#include "field.hpp"

/// The element-wise parts of a time step, one row of n points at a time: no communication, no memory of their
/// own. Each pointer names n values; outputs never overlap inputs unless they are the same array. Equation
/// numbers are those of docs/explain/ultrasound.md, after Treeby, Jaros, Rendell and Cox, J. Acoust. Soc. Am.
/// 131, 4324 (2012).
namespace tailrace::ultrasound::kernels {

/// out = in * factor for complex rows.
void scale(const Complex* in, const Complex* factor, Complex* out, std::int64_t n) noexcept;
/// out = in * factor for a complex row and one complex number.
void scale(const Complex* in, Complex factor, Complex* out, std::int64_t n) noexcept;
/// values *= factor, real factors.
void scale_in_place(Complex* values, const float* factor, std::int64_t n) noexcept;
/// values *= factor * phase, real factors and one complex phase.
void scale_in_place(Complex* values, const float* factor, Complex phase, std::int64_t n) noexcept;
/// values *= factor * phase, real factors and complex phases.
void scale_in_place(Complex* values, const float* factor, const Complex* phase, std::int64_t n) noexcept;

/// Momentum (1): u = q (q u - dt/rho0 grad p).
void velocity(float* u, const float* gradient, const float* dt_over_rho0, const float* pml,
              std::int64_t n) noexcept;
/// Velocity half a step before an initial pressure: u = dt/(2 rho0) grad p0.
void initial_velocity(float* u, const float* gradient, const float* dt_over_rho0, std::int64_t n) noexcept;

/// The three split densities of a row, or the three derivatives, or the three layers.
struct Rows {
  float *x, *y, *z;
};
struct ConstRows {
  const float *x, *y, *z;
};

/// Mass conservation (2), linear: rho_a = q_a (q_a rho_a - dt rho0 du_a).
void density_linear(Rows rho, ConstRows du, ConstRows pml, const float* rho0, float dt,
                    std::int64_t n) noexcept;
/// Mass conservation (2), non-linear: rho0 becomes rho0 + 2 (rho_x + rho_y + rho_z) before the update.
void density_nonlinear(Rows rho, ConstRows du, ConstRows pml, const float* rho0, float dt,
                       std::int64_t n) noexcept;
/// out = rho0 (du_x + du_y + du_z).
void mass_flux(ConstRows du, const float* rho0, float* out, std::int64_t n) noexcept;

/// State equation (3) without loss: p = c0^2 rho; total = rho.
void pressure_linear(ConstRows rho, const float* c0_squared, float* p, float* total, std::int64_t n) noexcept;
/// State equation (3) without loss: p = c0^2 (rho + (B/2A) rho^2 / rho0); total = rho.
void pressure_nonlinear(ConstRows rho, const float* c0_squared, const float* b_over_2a_rho0, float* p,
                        float* total, std::int64_t n) noexcept;
/// Power-law loss in (3): p += absorption * loss - dispersion * delay.
void pressure_loss(float* p, const float* absorption, const float* loss, const float* dispersion,
                   const float* delay, std::int64_t n) noexcept;

/// rho_a += factor * source, for the three split densities.
void add_source(Rows rho, const float* source, float factor, std::int64_t n) noexcept;

}  // namespace tailrace::ultrasound::kernels
