// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/exact_sum.hpp"
#include "mpi/exact_sum.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::heat {

/// How products are summed up for conjugate gradients, and the integral.
enum class SumRule : std::uint8_t {
  exact,  ///< rounded once: the same bits however ranks share the mesh
  fast,   ///< rank by rank as doubles: other last bits on other numbers of ranks
};

/// A sum under way on a rank.
class Sum {
 public:
  explicit Sum(SumRule rule) : rule_(rule) {}
  void add(double value) noexcept {
    if (rule_ == SumRule::exact)
      exact_.add(value);
    else
      plain_ += value;
  }
  /// The sum over all ranks. @collective{comm}, synchronises
  [[nodiscard]] double over(mpi::CommView comm) const {
    return rule_ == SumRule::exact ? mpi::sum(comm, exact_) : mpi::sum(comm, plain_);
  }

 private:
  SumRule rule_;
  ExactSum exact_;
  double plain_ = 0;
};

}  // namespace tailrace::heat
