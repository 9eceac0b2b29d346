// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "force_field.hpp"

namespace tailrace::molecules {

/// Describes what the formulas of the whole system add to the sums over pairs.
struct Corrections {
  double u_lj = 0, u_self = 0;  ///< beyond the cutoff, and of dipoles with the reaction field of themselves
  double virial = 0;            ///< that of both

  [[nodiscard]] double u() const noexcept { return u_lj + u_self; }
};

/// Corrections for what lies beyond the cutoff in a homogeneous system, averaged over angles for centres that
/// are not at the centre of mass, for all pairs of centres that are not shifted; and the self term of the
/// reaction field.
///
/// @local
/// `molecules`: how many there are of each component in the whole system; `volume` of the whole box.
/// Errors (input): two centres so far from their centres of mass that the formula does not hold.
/// Source: Lustig, Mol. Phys. 65 (1988) 175, as used by ls1 mardyn.
Corrections corrections(const ForceField& field, std::span<const std::int64_t> molecules, double volume);

}  // namespace tailrace::molecules
