// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tailrace::exchange {

/// The numbers that a field may have. `byte` is a part of something that only the program knows.
enum class Number : std::uint8_t { float32, float64, int32, int64, byte };

[[nodiscard]] constexpr std::size_t bytes_of(Number number) noexcept {
  if (number == Number::byte) return 1;
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

/// How a program combines entries by itself: changes `into` by `value`, an entry each, aligned as the fields'
/// arrays. Which of two comes first must not matter with `Order::fast`, nor how they are grouped with
/// `Order::fixed`.
using EntryFunction = void (*)(void* into, const void* value, void* context);

/// What is done with entries that come where there is one already.
struct Combine {
  // NOLINTNEXTLINE(google-explicit-constructor): a reduction is the usual way
  Combine(Reduction wanted = Reduction::sum) noexcept : reduction(wanted) {}
  /// `neutral` is an entry that changes nothing; only flights from single contributions of an order other
  /// than `partition_free` need it. It and what the context points to outlive the flight. For flights of one
  /// field.
  explicit Combine(EntryFunction own, void* own_context = nullptr, const void* own_neutral = nullptr) noexcept
      : function(own), context(own_context), neutral(own_neutral) {}

  Reduction reduction = Reduction::sum;  ///< where there is no function
  EntryFunction function = nullptr;
  void* context = nullptr;
  const void* neutral = nullptr;
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

/// A view of `values` as entries of `components` numbers; one of less than one has no entries, and is
/// refused.
template <FieldNumber T>
[[nodiscard]] Field field(std::span<T> values, int components = 1) noexcept {
  return {.data = values.data(),
          .entries = components < 1 ? 0 : static_cast<std::int64_t>(values.size()) / components,
          .number = number_of<T>,
          .components = components};
}

/// A view of objects of the program's own as entries: they are gathered as they are, and combined by a
/// function of the program's only.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] Field objects(std::span<T> values) noexcept {
  return {.data = values.data(),
          .entries = static_cast<std::int64_t>(values.size()),
          .number = Number::byte,
          .components = static_cast<int>(sizeof(T))};
}

}  // namespace tailrace::exchange
