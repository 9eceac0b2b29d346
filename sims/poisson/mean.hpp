// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "tailrace/comm.hpp"

namespace tailrace::poisson {

/// The mean of `count` values of all ranks, the same bit for bit however ranks share them. @collective{comm},
/// synchronises
double mean(mpi::CommView comm, std::span<const double> own, std::int64_t count);

}  // namespace tailrace::poisson
