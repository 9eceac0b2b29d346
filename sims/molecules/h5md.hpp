// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "id_order.hpp"
#include "model.hpp"
#include "molecule_list.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/run/case_output.hpp"
#include "trajectory.hpp"

namespace tailrace::molecules {

/// Group of all molecules in an output file.
inline constexpr const char* molecules_group = "/particles/all";

/// Makes an output file one that readers of H5MD 1.1 understand: the box, ids and species, and names of H5MD
/// for the outputs that are series of molecules' numbers or observables; of several of a quantity for the
/// first one (docs/formats/h5md.md). The box has a value for each sample of the positions, if there are any.
/// @collective{comm}. Memory: 16 bytes for each molecule on rank 0.
void add_h5md(mpi::CommView comm, output::FileHead& head, const std::vector<run::OutputTable>& tables,
              const Trajectory& trajectory, const Vec3& box, const IdOrder& order, const MoleculeList& own);

}  // namespace tailrace::molecules
