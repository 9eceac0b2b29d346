#pragma once

#include <vector>

#include "id_order.hpp"
#include "model.hpp"
#include "molecule_list.hpp"
#include "tailrace/output/file_content.hpp"
#include "tailrace/run/case_output.hpp"

namespace tailrace::molecules {

/// Makes an output file one that readers of H5MD 1.1 understand: the box, ids and species, and names of H5MD
/// for the outputs that are series of molecules' numbers or observables; of several of a quantity for the
/// first one (docs/formats/h5md.md). @collective{comm}. Memory: 16 bytes for each molecule on rank 0.
void add_h5md(mpi::CommView comm, output::FileHead& head, const std::vector<run::OutputTable>& tables,
              const Vec3& box, const IdOrder& order, const MoleculeList& own);

}  // namespace tailrace::molecules
