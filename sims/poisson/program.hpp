// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/comm.hpp"

namespace tailrace::poisson {

/// The whole program: options, run, account. Returns the exit status: 0 finished, 2 bad usage or input, 3
/// failure, 4 stopped in good order. A failure that only one rank knows of aborts the job.
/// @collective{comm}
int run_program(mpi::CommView comm, int argc, const char* const* argv);

}  // namespace tailrace::poisson
