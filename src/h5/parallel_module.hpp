// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "h5/parallel.hpp"

/// Describes what the module of the parallel HDF5 shows to the program that loads it.
namespace tailrace::h5 {

inline constexpr const char* parallel_module_name = "libtailrace_hdf5_parallel.so";
inline constexpr const char* parallel_module_function = "tailrace_open_parallel_file_1";

/// Type of that function.
using OpenParallelFile = ParallelFile*(const ParallelTarget& target);

}  // namespace tailrace::h5
