// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/comm.hpp"

namespace tailrace::rehearse {

/// The whole program: options, run, account, verification. Returns the exit status: 0 finished, 1 values
/// that are not those of the formula, 2 bad usage or input, 3 failure, 4 stopped in good order. A failure
/// that only one rank knows of aborts the job.
/// @collective{comm}
int run_program(mpi::CommView comm, int argc, const char* const* argv);

}  // namespace tailrace::rehearse
