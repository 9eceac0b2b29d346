// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tailrace::exchange {

/// The numbers that a field may have.
enum class Number : std::uint8_t { float32, float64, int32, int64 };

[[nodiscard]] constexpr std::size_t bytes_of(Number number) noexcept {
  return number == Number::float32 || number == Number::int32 ? 4 : 8;
}

template <class T>
concept FieldNumber = std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

template <FieldNumber T>
inline constexpr Number number_of = std::is_same_v<T, float>          ? Number::float32
                                    : std::is_same_v<T, double>       ? Number::float64
                                    : std::is_same_v<T, std::int32_t> ? Number::int32
                                                                      : Number::int64;

/// What is done with a value that comes where there is one already.
enum class Reduction : std::uint8_t {
  sum,
  min,
  max,
  logical_or,  ///< 1 if either is not zero
};

/// An array whose elements are entries of `components` numbers each, one entry for each slot of a map, or for
/// each position of its index vector. Its memory is the caller's.
struct Field {
  void* data = nullptr;
  std::int64_t entries = 0;
  Number number = Number::float64;
  int components = 1;
  /// Of the map that made the array (`AccessMap::generation`), or 0 where nobody knows.
  std::int64_t generation = 0;

  [[nodiscard]] std::size_t entry_bytes() const noexcept {
    return bytes_of(number) * static_cast<std::size_t>(components);
  }
};

/// A view of `values` as entries of `components` numbers.
template <FieldNumber T>
[[nodiscard]] Field field(std::span<T> values, int components = 1) noexcept {
  return {.data = values.data(),
          .entries = static_cast<std::int64_t>(values.size()) / components,
          .number = number_of<T>,
          .components = components};
}

}  // namespace tailrace::exchange
