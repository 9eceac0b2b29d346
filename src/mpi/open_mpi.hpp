// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

namespace tailrace::mpi {

/// Whether this is a build with Open MPI.
#ifdef OPEN_MPI
inline constexpr bool is_open_mpi = true;
#else
inline constexpr bool is_open_mpi = false;
#endif

}  // namespace tailrace::mpi
