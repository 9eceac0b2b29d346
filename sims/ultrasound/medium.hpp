// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "field.hpp"
#include "grid.hpp"

namespace tailrace::ultrasound {

/// The material as the input file gives it, on this rank's planes.
template <class Real>
struct RawMedium {
  Coefficient<Real> c0, rho0, b_on_a, alpha_coeff;
  std::array<Coefficient<Real>, axis_count> rho0_staggered;  ///< x, y, z
};

/// The loss term of the state equation; the numbers are those of the input file.
enum class Absorption : std::uint64_t {
  none = 0,
  power_law = 1,  ///< any power but 1, with the dispersion that causality asks for
  stokes = 2,     ///< second power, no dispersion
};

/// Describes which terms of the equations are switched on.
struct Physics {
  bool nonlinear = false;
  Absorption absorption = Absorption::none;
  double alpha_power = 0;  ///< refers to a power law
};

/// The material in the combinations that the kernels use.
template <class Real>
struct Medium {
  Coefficient<Real> c0_squared;                            ///< c0^2
  Coefficient<Real> rho0;                                  ///< rho0
  std::array<Coefficient<Real>, axis_count> dt_over_rho0;  ///< dt / rho0 at the velocity points; x, y, z
  Coefficient<Real> b_over_2a_rho0;                        ///< B / (2 A rho0); non-linear only
  Coefficient<Real> absorption;                            ///< c0^2 tau; absorbing only
  Coefficient<Real> dispersion;                            ///< c0^2 eta; power law only

  [[nodiscard]] std::array<const Coefficient<Real>*, 8> all() const noexcept {
    return {&c0_squared,      &rho0,           &dt_over_rho0[0], &dt_over_rho0[1],
            &dt_over_rho0[2], &b_over_2a_rho0, &absorption,      &dispersion};
  }
  [[nodiscard]] std::int64_t bytes() const noexcept;
};

/// Combines the raw material; arrays that are no longer needed are freed on the way.
template <class Real>
Medium<Real> make_medium(RawMedium<Real> raw, const Physics& physics, const Grid& grid, Range planes);

}  // namespace tailrace::ultrasound
