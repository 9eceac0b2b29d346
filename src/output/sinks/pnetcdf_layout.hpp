// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "output/core/sink.hpp"
#include "output/sinks/hdf5_file.hpp"

namespace tailrace::output {

/// The name of the variable that holds a dataset: its path with '_' between the groups. "/snap/values" is
/// snap_values.
std::string variable_of(const std::string& dataset);

/// True if a dataset has a variable: netCDF knows no fixed dimension of extent 0.
bool has_variable(const h5::DatasetSpec& spec) noexcept;

/// Creates the file with its whole layout. It appears only when it is complete. Returns where the variables
/// are. @local. Errors (io); (usage): two datasets would be the same variable.
Hdf5Places create_pnetcdf_file(const SinkContext& context);

}  // namespace tailrace::output
