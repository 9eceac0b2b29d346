// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/comm.hpp"

namespace tailrace::ultrasound {

/// The whole program: options, input, run, output, account. Returns the exit status: in case mode 0 finished,
/// 2 bad usage or input, 3 failure, 4 stopped in good order; in k-Wave mode 0 or 1. A failure that only one
/// rank knows of aborts the job.
/// @collective{comm}
int run_program(mpi::CommView comm, int argc, const char* const* argv);

}  // namespace tailrace::ultrasound
