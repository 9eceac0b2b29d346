// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "study_numbers.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::heat {

/// The whole program: options, run, account. Returns the exit status: 0 finished, 1 finished and not verified
/// though its class has a reference, 2 bad usage or input, 3 failure, 4 stopped in good order. A failure that
/// only one rank knows of aborts the job. With a rule `own` it says who owns which mortar points, unless the
/// case names a distribution. @collective{comm}
int run_program(mpi::CommView comm, int argc, const char* const* argv, const NumberRule& own = {});

}  // namespace tailrace::heat
