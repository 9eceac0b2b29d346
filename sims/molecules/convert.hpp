#pragma once

#include <array>
#include <cstdint>

#include "phase_space.hpp"

namespace tailrace::molecules {

/// Writes the state in `from` once more, in another format, on any number of ranks. `share` says which rank
/// holds what meanwhile; `model` and the header of the file say what the new file needs beside the molecules,
/// the file first. @collective{comm}, synchronises. Errors (input, io), on all ranks. Memory: the molecules
/// of a rank.
void convert(mpi::CommView comm, const PhaseSpaceFiles& from, const PhaseSpaceFiles& to, const Share& share,
             const Model& model, const std::array<std::int64_t, 3>& cells);

/// The model with what a file says of it in place of its own components, mixing and dielectric constant.
/// @local
Model model_of(const PhaseSpaceHeader& header, Model model);

}  // namespace tailrace::molecules
