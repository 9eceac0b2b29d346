// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "long_range.hpp"

namespace tailrace::molecules {

/// Sums over the molecules and pairs of one rank; those of all ranks add up to those of the system. A pair
/// that straddles a border counts half on each side.
struct Totals {
  double u_lj = 0, u_el = 0, u_rf = 0;
  double virial =
      0;  ///< refers to pairs of molecules, by their distance of centres; without the reaction field
  double twice_kinetic_trans = 0, twice_kinetic_rot = 0;  ///< sums of m v^2 and of I w^2
  std::int64_t molecules = 0, rotational_freedoms = 0;
  std::int64_t pairs =
      0;  ///< refers to molecules within the cutoff, evaluated here: work that can be counted
};

/// Describes what the sums of all ranks say about the system; reduced units.
struct Observables {
  double u_potential = 0, u_kinetic = 0, virial = 0, temperature = 0, pressure = 0;
};

/// @local
/// `totals` of the whole system, `volume` of the box.
inline Observables observables(const Totals& totals, const Corrections& corrections, double volume) noexcept {
  const auto n = static_cast<double>(totals.molecules);
  const auto freedoms = 3 * n + static_cast<double>(totals.rotational_freedoms);
  const double twice_kinetic = totals.twice_kinetic_trans + totals.twice_kinetic_rot;
  Observables o;
  o.u_potential = totals.u_lj + totals.u_el + totals.u_rf + corrections.u();
  o.u_kinetic = 0.5 * twice_kinetic;
  o.virial = totals.virial + 3 * totals.u_rf + corrections.virial;
  o.temperature = freedoms > 0 ? twice_kinetic / freedoms : 0;
  o.pressure = (n * o.temperature + o.virial / 3) / volume;
  return o;
}

/// Heat capacity per molecule at constant volume from the fluctuations of the potential energy.
inline double heat_capacity(const Totals& totals, double mean_u, double mean_u2,
                            double temperature) noexcept {
  const auto n = static_cast<double>(totals.molecules);
  return 1.5 + 0.5 * static_cast<double>(totals.rotational_freedoms) / n +
         (mean_u2 - mean_u * mean_u) / (n * temperature * temperature);
}

/// Factors of velocities and of angular momenta.
struct Scaling {
  double trans = 1, rot = 1;
};

/// Relaxed velocity scaling as ls1 mardyn has it, with the exponent 0.4; 1 where nothing moves.
inline Scaling scaling(const Totals& totals, double target_temperature) noexcept {
  const auto factor = [target_temperature](std::int64_t freedoms, double twice_kinetic) {
    if (!(target_temperature > 0) || freedoms == 0 || !(twice_kinetic > 0)) return 1.0;
    return std::pow(static_cast<double>(freedoms) * target_temperature / twice_kinetic, 0.4);
  };
  return {factor(3 * totals.molecules, totals.twice_kinetic_trans),
          factor(totals.rotational_freedoms, totals.twice_kinetic_rot)};
}

}  // namespace tailrace::molecules
