// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace tailrace::seismic {

/// Formats of files with properties of the medium.
enum class ModelFormat { hdf5, rsf, segy };
/// The format of a file by the ending of its name: .rsf, .sgy or .segy; HDF5 with any other. @local
ModelFormat model_format(const std::string& name);

/// Opens the files that a case names and completes its problem: properties that are read point by point,
/// and the values of the sources. @local. Errors (input): missing or unreadable files, shapes that do not fit
/// the domain, values that are no numbers; all problems together.
void complete_problem(Options& options);

}  // namespace tailrace::seismic
