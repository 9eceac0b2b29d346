// SPDX-License-Identifier: BSD-3-Clause
#include "mean.hpp"

#include "mpi/exact_sum.hpp"

namespace tailrace::poisson {

double mean(mpi::CommView comm, std::span<const double> own, std::int64_t count) {
  constexpr std::size_t carried_at_once = std::size_t{1} << 30;
  ExactSum sum;
  for (std::size_t i = 0; i < own.size(); ++i) {
    sum.add(own[i]);
    if ((i + 1) % carried_at_once == 0) sum.carry();
  }
  return mpi::sum(comm, sum) / static_cast<double>(count);
}

}  // namespace tailrace::poisson
