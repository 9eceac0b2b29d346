// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::molecules {

/// Sums that come out the same, bit for bit, in whichever order and on whichever ranks numbers are added: of
/// multiples of 2^-30, within +-2^33.
class ExactSums {
 public:
  explicit ExactSums(std::size_t count) : sums_(count, 0) {}

  void add(std::size_t i, double value) noexcept { sums_[i] += std::llround(value * scale); }
  /// The sums over all ranks. @collective{comm}, synchronises
  [[nodiscard]] std::vector<double> over(mpi::CommView comm) const {
    std::vector<double> all;
    all.reserve(sums_.size());
    for (const auto sum : mpi::sum(comm, sums_)) all.push_back(static_cast<double>(sum) / scale);
    return all;
  }

 private:
  static constexpr double scale = 0x1.0p30;
  std::vector<std::int64_t> sums_;
};

}  // namespace tailrace::molecules
