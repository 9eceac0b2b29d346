// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/random.hpp"

namespace tailrace {

/// A digest of numbers that have places: a sum over all of them, the same whoever has which and whoever looks
/// first.
class PlacedDigest {
 public:
  /// Takes in numbers that follow each other from a place on.
  template <class T>
  void add(std::span<const T> numbers, std::int64_t place) noexcept {
    const auto first = static_cast<std::uint64_t>(place);
    std::uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      sum += mixed_bits(bits_of(numbers[i]) + (first + i + 1) * SplitMix64::increment);
    sum_ += sum;
  }
  template <class T>
  void add(T number, std::int64_t place) noexcept {
    add(std::span<const T>(&number, 1), place);
  }
  /// Takes in what was found elsewhere.
  void add(const PlacedDigest& other) noexcept {
    sum_ += other.sum_;
  }

  [[nodiscard]] std::uint64_t sum() const noexcept {
    return sum_;
  }

 private:
  template <class T>
  static std::uint64_t bits_of(T number) noexcept {
    if constexpr (std::floating_point<T>) {
      using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
      return std::bit_cast<Bits>(number);
    } else {
      return static_cast<std::uint64_t>(number);
    }
  }

  std::uint64_t sum_ = 0;
};

/// Of numbers in a row. @local
template <class T>
std::uint64_t placed_digest(std::span<const T> numbers) noexcept {
  PlacedDigest digest;
  digest.add(numbers, 0);
  return digest.sum();
}

}  // namespace tailrace
