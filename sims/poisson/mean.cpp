// SPDX-License-Identifier: BSD-3-Clause
#include "mean.hpp"

#include <algorithm>
#include <vector>

#include "base/exact_sum.hpp"

namespace tailrace::poisson {

double mean(mpi::CommView comm, std::span<const double> own, std::int64_t count) {
  ExactSum sum;
  for (const double value : own) sum.add(value);
  const auto words = mpi::sum(comm, std::vector<std::int64_t>(sum.words().begin(), sum.words().end()));
  std::copy(words.begin(), words.end(), sum.words().begin());
  return sum.value() / static_cast<double>(count);
}

}  // namespace tailrace::poisson
