// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests.hpp"

namespace tailrace::bench::network {

/// Throws, the same on all ranks, if this machine has no room for the largest message through all adapters to
/// so many other ranks: MPI would end the program, or the system would, when memory is touched.
/// @collective{comm}
void require_room(mpi::CommView comm, const Settings& settings, int connections);

}  // namespace tailrace::bench::network
