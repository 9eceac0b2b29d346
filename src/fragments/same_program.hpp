// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fragments/code.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::fragments {

/// Compares the digests of the programs that ranks are about to run. @collective{comm}, synchronises. Errors
/// (input): they differ, on all ranks
void require_same_program(mpi::CommView comm, const Image& image);

}  // namespace tailrace::fragments
