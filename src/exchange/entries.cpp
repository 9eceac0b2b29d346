// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/entries.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "base/aligned.hpp"
#include "base/check.hpp"

namespace tailrace::exchange {

namespace {

using std::numeric_limits;
template <class T>
constexpr T highest() noexcept {
  return numeric_limits<T>::has_infinity ? numeric_limits<T>::infinity() : numeric_limits<T>::max();
}
template <class T>
constexpr T lowest() noexcept {
  return numeric_limits<T>::has_infinity ? -numeric_limits<T>::infinity() : numeric_limits<T>::lowest();
}

template <class T>
struct Sum {
  static constexpr T neutral{};
  T operator()(T a, T b) const noexcept { return a + b; }
};
template <class T>
struct Min {
  static constexpr T neutral = highest<T>();
  T operator()(T a, T b) const noexcept { return b < a ? b : a; }
};
template <class T>
struct Max {
  static constexpr T neutral = lowest<T>();
  T operator()(T a, T b) const noexcept { return a < b ? b : a; }
};
template <class T>
struct Or {
  static constexpr T neutral{};
  T operator()(T a, T b) const noexcept { return a != T{} || b != T{} ? T{1} : T{}; }
};

/// Calls `visit` with an object of the reduction of a type.
template <class T, class Visit>
void with_reduction(Reduction reduction, Visit visit) {
  switch (reduction) {
    case Reduction::sum:
      return visit(Sum<T>{});
    case Reduction::min:
      return visit(Min<T>{});
    case Reduction::max:
      return visit(Max<T>{});
    case Reduction::logical_or:
      return visit(Or<T>{});
  }
}

/// Calls `visit` with a zero of the type of a number.
template <class Visit>
void with_number(Number number, Visit visit) {
  switch (number) {
    case Number::float32:
      return visit(float{});
    case Number::float64:
      return visit(double{});
    case Number::int32:
      return visit(std::int32_t{});
    case Number::int64:
      return visit(std::int64_t{});
    case Number::byte:
      throw std::logic_error("objects of a program are combined by its own function");
  }
}

/// Calls `visit` with a number, as a constant of the compiler where it is one of these.
template <auto... constants, class Integer, class Visit>
void with_constant(Integer number, Visit visit) {
  const bool found =
      ((number == constants && (visit(std::integral_constant<Integer, constants>{}), true)) || ...);
  if (!found) visit(number);
}

/// Calls `visit` with so many bytes.
template <class Visit>
void with_size(std::size_t bytes, Visit visit) {
  with_constant<4U, 8U, 16U, 24U, 32U>(bytes, visit);
}

/// Calls `visit(zero, combined, numbers)`: a zero of the type of a field's numbers, what combines two of
/// them, and how many an entry has.
template <class Visit>
void with_numbers(const Field& array, const Combine& how, Visit visit) {
  with_number(array.number, [&](auto zero) {
    with_reduction<decltype(zero)>(how.reduction, [&](auto combined) {
      with_constant<1>(std::int64_t{array.components}, [&](auto numbers) { visit(zero, combined, numbers); });
    });
  });
}

/// The function of a program, which gets values at aligned places.
class OwnFunction {
 public:
  OwnFunction(const Combine& how, const Field& array)
      : how_(how),
        first_(static_cast<std::byte*>(array.data)),
        bytes_(array.entry_bytes()),
        value_(array.entry_bytes()) {}
  void combine(std::int64_t entry, const std::byte* value) {
    std::memcpy(value_.data(), value, bytes_);
    how_.function(first_ + static_cast<std::size_t>(entry) * bytes_, value_.data(), how_.context);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  const Combine& how_;
  std::byte* first_;
  std::size_t bytes_;
  AlignedVector<std::byte> value_;
};

}  // namespace

Entries::Entries(std::span<const std::int64_t> places) : size_(static_cast<std::int64_t>(places.size())) {
  for (const std::int64_t place : places) {
    const auto at = static_cast<std::int32_t>(place);
    if (!runs_.empty() && runs_.back().first + runs_.back().count == at)
      ++runs_.back().count;
    else
      runs_.push_back({at, 1});
  }
  runs_.shrink_to_fit();
  if (2 * runs_.size() <= places.size()) return;
  runs_ = {};
  places_.assign(places.begin(), places.end());
}

void Entries::copy_from(const Field& array, std::byte* out) const {
  const auto* const from = static_cast<const std::byte*>(array.data);
  with_size(array.entry_bytes(), [&](auto bytes) {
    for (const std::int32_t place : places_) {
      std::memcpy(out, from + static_cast<std::size_t>(place) * bytes, bytes);
      out += bytes;
    }
    for (const auto [first, count] : runs_) {
      const std::size_t run_bytes = static_cast<std::size_t>(count) * bytes;
      std::memcpy(out, from + static_cast<std::size_t>(first) * bytes, run_bytes);
      out += run_bytes;
    }
  });
}

void Entries::combine_into(const Field& array, const std::byte* values, const Combine& how) const {
  if (how.function != nullptr) {
    OwnFunction own(how, array);
    for_each([&](std::int32_t place) {
      own.combine(place, values);
      values += own.bytes();
    });
    return;
  }
  with_numbers(array, how, [&](auto zero, auto combined, auto numbers) {
    using T = decltype(zero);
    auto* const into = static_cast<T*>(array.data);
    for_each_run([&](std::int32_t first, std::int32_t count) {
      T* const run = into + static_cast<std::int64_t>(first) * numbers;
      for (std::int64_t i = 0; i < count * numbers; ++i, values += sizeof(T)) {
        T value;
        std::memcpy(&value, values, sizeof value);
        run[i] = combined(run[i], value);
      }
    });
  });
}

void PairedEntries::combine(const Field& from, const Field& into, const Combine& how) const {
  if (how.function != nullptr) {
    OwnFunction own(how, into);
    const auto* const values = static_cast<const std::byte*>(from.data);
    for (const auto [first, target, count] : runs_)
      for (std::int32_t i = 0; i < count; ++i)
        own.combine(target + i, values + static_cast<std::size_t>(first + i) * own.bytes());
    return;
  }
  with_numbers(into, how, [&](auto zero, auto combined, auto numbers) {
    using T = decltype(zero);
    const auto* const values = static_cast<const T*>(from.data);
    auto* const results = static_cast<T*>(into.data);
    for (const auto [first, target, count] : runs_) {
      const T* __restrict const value = values + first * numbers;
      T* __restrict const result = results + target * numbers;
      for (std::int64_t i = 0; i < count * numbers; ++i) result[i] = combined(result[i], value[i]);
    }
  });
}

void combine_positions(const Field& values, std::span<const std::int32_t> slots, std::int32_t owned,
                       const Field& own, const Field& landing, const Combine& how) {
  if (how.function != nullptr) {
    OwnFunction in_own(how, own), in_landing(how, landing);
    const auto* value = static_cast<const std::byte*>(values.data);
    for (const std::int32_t slot : slots) {
      slot < owned ? in_own.combine(slot, value) : in_landing.combine(slot - owned, value);
      value += in_own.bytes();
    }
    return;
  }
  with_numbers(values, how, [&](auto zero, auto combined, auto numbers) {
    using T = decltype(zero);
    const auto* value = static_cast<const T*>(values.data);
    auto *const own_values = static_cast<T*>(own.data), *const landing_values = static_cast<T*>(landing.data);
    for (const std::int32_t slot : slots) {
      T* const into = slot < owned ? own_values + slot * numbers : landing_values + (slot - owned) * numbers;
      for (std::int64_t i = 0; i < numbers; ++i) into[i] = combined(into[i], *value++);
    }
  });
}

void set_neutral(const Field& array, const Combine& how) {
  if (how.function != nullptr) {
    const std::size_t bytes = array.entry_bytes();
    auto* const first = static_cast<std::byte*>(array.data);
    for (std::int64_t i = 0; i < array.entries; ++i)
      std::memcpy(first + static_cast<std::size_t>(i) * bytes, how.neutral, bytes);
    return;
  }
  with_number(array.number, [&](auto zero) {
    using T = decltype(zero);
    with_reduction<T>(how.reduction, [&](auto combined) {
      std::fill_n(static_cast<T*>(array.data), array.entries * array.components, decltype(combined)::neutral);
    });
  });
}

std::size_t Entries::memory_bytes() const noexcept {
  return places_.capacity() * sizeof places_[0] + runs_.capacity() * sizeof runs_[0];
}

}  // namespace tailrace::exchange
