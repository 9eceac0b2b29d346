// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model.hpp"
#include "molecule.hpp"
#include "options.hpp"
#include "region.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::molecules {

/// Returns how many molecules the start has, but for what whole cells of the lattice make of its density.
/// @local
double expected_molecules(const StartLattice& start, const Vec3& box);

/// Makes the molecules of a start that lie in the region of this rank: a face-centred cubic lattice with
/// random orientations, velocities and angular momenta of the wanted temperature, without momentum of the
/// whole. Every molecule depends on its id and the seed alone, so that the start is the same, bit for bit, on
/// any number of ranks. The regions of all ranks tile the box. @collective{comm}, synchronises. The density
/// is met as nearly as whole cells of the lattice allow: 4 molecules each.
std::vector<Molecule> generate(mpi::CommView comm, const StartLattice& start, const Model& model,
                               const Vec3& box, const Region& own);

}  // namespace tailrace::molecules
