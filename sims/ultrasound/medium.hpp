#pragma once

#include <array>
#include <functional>

#include "field.hpp"
#include "grid.hpp"

namespace tailrace::ultrasound {

/// The material as the input file gives it, on this rank's planes.
struct RawMedium {
  Coefficient c0, rho0, b_on_a, alpha_coeff;
  std::array<Coefficient, axis_count> rho0_staggered;
};

/// Which terms of the equations are switched on.
struct Physics {
  bool nonlinear = false;
  bool absorbing = false;  ///< power law
  double alpha_power = 0;
};

/// The material in the combinations that the kernels use.
struct Medium {
  Coefficient c0_squared;                            ///< c0^2
  Coefficient rho0;                                  ///< rho0
  std::array<Coefficient, axis_count> dt_over_rho0;  ///< dt / rho0 at the velocity points
  Coefficient b_over_2a_rho0;                        ///< B / (2 A rho0); non-linear only
  Coefficient absorption;                            ///< c0^2 tau; absorbing only
  Coefficient dispersion;                            ///< c0^2 eta; absorbing only

  [[nodiscard]] std::int64_t bytes() const noexcept;
};

/// Combines the raw material; arrays that are no longer needed are freed on the way.
Medium make_medium(RawMedium raw, const Physics& physics, const Grid& grid, Range planes);

}  // namespace tailrace::ultrasound
