// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "tailrace/box.hpp"

namespace tailrace {

/// A number for the differences of "is this point in the box" along x, y and z, which are not zero at its
/// corners only. Over boxes that cover a domain once the numbers add up to that of the domain, modulo 2^64.
inline std::uint64_t corner_sum(const Box& box) noexcept {
  std::uint64_t sum = 0;
  if (box.empty()) return sum;
  for (const bool x : {false, true})
    for (const bool y : {false, true})
      for (const bool z : {false, true}) {
        std::uint64_t number = 0;
        for (const auto place : {x ? box.hi.x : box.lo.x, y ? box.hi.y : box.lo.y, z ? box.hi.z : box.lo.z})
          number = mixed_bits(number + static_cast<std::uint64_t>(place) + SplitMix64::increment);
        sum += (x + y + z) % 2 == 0 ? number : 0 - number;
      }
  return sum;
}

}  // namespace tailrace
