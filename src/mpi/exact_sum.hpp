// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/exact_sum.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// The sum of what all ranks have added, the same bit for bit however ranks share the numbers.
/// @collective{comm}, synchronises
inline double sum(CommView comm, ExactSum mine) {
  mine.carry();
  const auto all = sum(comm, std::vector<std::int64_t>(mine.words().begin(), mine.words().end()));
  std::copy(all.begin(), all.end(), mine.words().begin());
  return mine.value();
}

}  // namespace tailrace::mpi
