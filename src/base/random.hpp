// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Numbers that look random and are the same everywhere for a seed (SplitMix64; Steele, Lea, Flood 2014).
namespace tailrace {

/// A number each of whose bits depends on each bit of `z`.
constexpr std::uint64_t mixed_bits(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

class SplitMix64 {
 public:
  static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15U;
  static constexpr double resolution = 0x1.0p-53;  ///< refers to `unit`

  constexpr explicit SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept { return mixed_bits(state_ += increment); }
  /// From 0 to 1, without 1.
  constexpr double unit() noexcept { return unit_of(next()); }
  /// The same of 64 bits.
  static constexpr double unit_of(std::uint64_t bits) noexcept {
    constexpr int dropped_bits = 11;
    return static_cast<double>(bits >> dropped_bits) * resolution;
  }

 private:
  std::uint64_t state_;
};

}  // namespace tailrace
