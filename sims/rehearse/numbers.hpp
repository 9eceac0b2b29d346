// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace tailrace::rehearse {

class Random : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;

  /// From 0 to n - 1; 0 for n < 1. `power` above 1 favours the low ones.
  std::int64_t below(std::int64_t n, int power = 1) noexcept {
    double u = 1;
    const double drawn = unit();
    for (int i = 0; i < power; ++i) u *= drawn;
    return n < 1 ? 0 : static_cast<std::int64_t>(u * static_cast<double>(n));
  }
};

}  // namespace tailrace::rehearse
