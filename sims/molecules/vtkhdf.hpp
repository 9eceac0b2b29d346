// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "trajectory.hpp"

namespace tailrace::molecules {

/// Puts a description of the trajectory beside the output file, "output.vtkhdf" for "output.h5", unless it is
/// empty: a VTKHDF file of which all values are in the output file (docs/formats/h5md.md). @local. Errors
/// (io): it cannot be written. Memory: 8 bytes for each molecule.
void write_vtkhdf(const Trajectory& trajectory, const std::string& output);

}  // namespace tailrace::molecules
