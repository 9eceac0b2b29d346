// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/aligned.hpp"
#include "options.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::poisson {

/// Opens what the case names as right-hand side and completes the problem with it. @local. Errors (input):
/// no such dataset, or one of another shape or type.
void complete_problem(Options& options);

/// The right-hand side in the box of this rank. @collective{comm}. Errors (input), on all ranks: NaN and
/// infinity; a mean other than 0 where all sides are periodic.
AlignedVector<double> read_rhs(mpi::CommView comm, const Options& options, const Box& own);

}  // namespace tailrace::poisson
