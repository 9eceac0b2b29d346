// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>  // IWYU pragma: export

/// Everything that a program with a main loop of its own needs (examples/plain_mpi). Programs that run cases
/// find the frame in tailrace/run/ (examples/minimal_sim). MPI's header is for such programs: ours need none.
#include "tailrace/checkpoint.hpp"  // IWYU pragma: export
#include "tailrace/error.hpp"       // IWYU pragma: export
#include "tailrace/output.hpp"      // IWYU pragma: export
#include "tailrace/trace.hpp"       // IWYU pragma: export
