// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "neighbourhood.hpp"

namespace tailrace::molecules {

/// Adds the forces and torques of all pairs within the cutoff to those of the own molecules. Both kernels
/// count each pair of own molecules once, and half of what a pair with a copy has.
///
/// @local
/// Returns the sums of each row, y fastest. Threads: all; the result does not depend on how many.
std::vector<RowSums> one_centre_forces(
    const Neighbourhood& neighbourhood);  ///< refers to `ForceField::one_centre` only
std::vector<RowSums> site_forces(const Neighbourhood& neighbourhood);

}  // namespace tailrace::molecules
