// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tailrace::fuzz {

/// Choices that follow from a seed alone, on every machine.
class Choose {
 public:
  explicit Choose(std::uint64_t seed) : engine_(seed) {}

  /// An integer from 0 to n - 1.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  /// An integer from `low` to `high`.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  bool percent(unsigned chance) { return below(100) < chance; }
  /// A number from 0 to below 1.
  float real() { return static_cast<float>(below(1 << 20)) / (1 << 20); }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tailrace::fuzz
