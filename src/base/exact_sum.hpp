// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace tailrace {

/// Sums of numbers that are the same, bit for bit, in whichever order and on whichever ranks they are added:
/// nothing is rounded before the end. A number of the whole range of `double` is kept in 32-bit digits with
/// room for carries (Neal: Fast exact summation using small and large superaccumulators, 2015). Up to 2^30
/// numbers between two calls of `carry`; adding the words of two sums that have been carried adds the sums.
class ExactSum {
 public:
  void add(double value) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto exponent = static_cast<unsigned>(bits >> fraction_bits) & exponent_mask;
    std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
    if (exponent == exponent_mask) {
      ++words_[not_finite];
      return;
    }
    if (exponent != 0) fraction |= std::uint64_t{1} << fraction_bits;
    const unsigned place = exponent == 0 ? 0 : exponent - 1;
    add_digits(fraction, place / digit_bits, place % digit_bits, (bits >> 63U) != 0);
  }
  /// Memory of the sum: to be added up over ranks.
  [[nodiscard]] std::span<std::int64_t> words() noexcept { return words_; }
  /// The sum, rounded once or nearly so; not a number if one of its parts was none.
  [[nodiscard]] double value() const noexcept {
    if (words_[not_finite] != 0) return std::numeric_limits<double>::quiet_NaN();
    auto digits = carried(1);
    const bool negative = digits[count - 1] < 0;
    if (negative) digits = carried(-1);
    double sum = 0;
    for (std::size_t i = count; i-- > 0;)
      if (digits[i] != 0)
        sum += std::ldexp(static_cast<double>(digits[i]), static_cast<int>(i * digit_bits) - smallest);
    return negative ? -sum : sum;
  }
  /// Makes room for further numbers; the sum stays.
  void carry() noexcept {
    const std::int64_t invalid = words_[not_finite];
    words_ = carried(1);
    words_[not_finite] = invalid;
  }
  void clear() noexcept { words_.fill(0); }

 private:
  static constexpr unsigned fraction_bits = 52, exponent_mask = 0x7ff, digit_bits = 32;
  static constexpr int smallest = 1074;  ///< 2^-1074 is the unit of the lowest digit
  static constexpr std::size_t count = 68, not_finite = count;
  static constexpr std::uint64_t low_digit = 0xffffffffU;
  using Words = std::array<std::int64_t, count + 1>;

  void add_digits(std::uint64_t fraction, std::size_t first, unsigned shift, bool negative) noexcept {
    const std::uint64_t above = fraction >> (digit_bits - shift);
    const auto low = static_cast<std::int64_t>((fraction << shift) & low_digit),
               middle = static_cast<std::int64_t>(above & low_digit),
               high = static_cast<std::int64_t>(above >> digit_bits);
    const std::int64_t sign = negative ? -1 : 1;
    words_[first] += sign * low;
    words_[first + 1] += sign * middle;
    words_[first + 2] += sign * high;
  }
  /// Digits of the sum or its opposite, all but the highest from 0 to 2^32.
  [[nodiscard]] Words carried(std::int64_t sign) const noexcept {
    Words digits{};
    std::int64_t carry = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t word = sign * words_[i] + carry;
      carry = word >> digit_bits;
      digits[i] = i + 1 < count ? word - carry * (std::int64_t{1} << digit_bits) : word;
    }
    return digits;
  }

  Words words_{};
};

}  // namespace tailrace
