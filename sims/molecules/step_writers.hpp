// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "id_order.hpp"
#include "options.hpp"
#include "step_writer.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::molecules {

/// Describes what writers need beside the step.
struct WriterContext {
  mpi::CommView comm;
  const Problem& problem;
  const IdOrder& order;
  std::string directory;              ///< refers to names without one
  const output::WriteOptions& write;  ///< whose pace and faults are theirs too
};

/// The names that the reference's configurations have for its writers, as far as they are written here:
/// ResultWriter, XyzWriter, PovWriter, VISWriter, VTKMoleculeWriter, and those of checkpoints,
/// CheckpointWriter (text), BinaryCheckpointWriter, MPI-IOCheckpointWriter, PnetCDFCheckpointWriter,
/// MPICheckpointWriter. @local
std::vector<std::string> writer_names();
/// The name of a file that two writers would both write in a run of so many steps, where these are known,
/// with # for the digits of its number; empty if there is none. @local
std::string common_file(const WriterOptions& a, const WriterOptions& b, std::optional<StepIndex> steps);
/// Makes the directories that prefixes name, below that of the run. @local. Errors (io).
void make_directories(const std::vector<WriterOptions>& options, const std::string& directory);
/// Writers of these names. @local
std::vector<std::unique_ptr<StepWriter>> make_writers(const std::vector<WriterOptions>& options,
                                                      const WriterContext& context);

/// The own molecules of all ranks where their ids belong: those of this rank's places, ascending. @collective
std::vector<Molecule> in_order(mpi::CommView comm, const IdOrder& order, const MoleculeList& own);

}  // namespace tailrace::molecules
