// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/comm.hpp"

namespace tailrace {

/// What `tailrace compile` makes of a program of the fragment language: rank 0 has it made, the others wait.
/// Returns the path of a shared object that is there as long as the process. `tailrace compile` says what is
/// wrong with the program. @collective{world}. Errors (input), on all ranks: it does not compile, or there is
/// nothing to compile it with, with what to do
std::string compiled(mpi::CommView world, const std::string& program);

}  // namespace tailrace
