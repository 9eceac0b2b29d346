// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

/// Discrete Fourier transforms of a few values, unrolled at compile time, each value a vector with one lane
/// per column: nothing moves between lanes, so every column is rounded alike wherever it is.
namespace tailrace::ultrasound::fft {

/// A complex number per lane.
template <class V>
struct Pair {
  V re, im;
};

template <class V>
[[gnu::always_inline]] inline Pair<V> operator+(const Pair<V>& a, const Pair<V>& b) noexcept {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
[[gnu::always_inline]] inline Pair<V> operator-(const Pair<V>& a, const Pair<V>& b) noexcept {
  return {a.re - b.re, a.im - b.im};
}
/// Real factors, one per lane.
template <class V>
[[gnu::always_inline]] inline Pair<V> operator*(const Pair<V>& a, const V& factor) noexcept {
  return {a.re * factor, a.im * factor};
}
/// a (re + i im), for a number or one per lane.
template <class V, class Real>
[[gnu::always_inline]] inline Pair<V> times(const Pair<V>& a, Real re, Real im) noexcept {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

/// exp(-2 pi i k / n).
struct Turn {
  double re, im;
};
constexpr Turn turn(int k, int n) noexcept {
  long double x = 6.283185307179586476925286766559L * static_cast<long double>(k % n) / n;
  if (2 * (k % n) > n) x -= 6.283185307179586476925286766559L;
  long double cosine = 1, sine = x, term = x;
  for (int i = 2; i < 48; ++i) {
    term *= x / i;
    switch (i % 4) {
      case 0:
        cosine += term;
        break;
      case 1:
        sine += term;
        break;
      case 2:
        cosine -= term;
        break;
      default:
        sine -= term;
    }
  }
  return {static_cast<double>(cosine), -static_cast<double>(sine)};
}

template <int n, class Function>
[[gnu::always_inline]] inline void repeat(Function function) noexcept {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (function(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// a exp(-2 pi i k / n).
template <int k, int n, class Real, class V>
[[gnu::always_inline]] inline Pair<V> turned(const Pair<V>& a) noexcept {
  if constexpr (k % n == 0)
    return a;
  else if constexpr (4 * (k % n) == n)
    return {a.im, -a.re};
  else {
    constexpr Turn w = turn(k, n);
    return times(a, static_cast<Real>(w.re), static_cast<Real>(w.im));
  }
}

constexpr int smallest_factor(int n) {
  if (n % 4 == 0 && n > 4) return 4;
  for (int p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

template <int n, class Real, class V>
[[gnu::always_inline]] inline void transform(Pair<V>* a) noexcept;

/// An odd prime: with sums and differences of opposite values half the products are left.
template <int n, class Real, class V>
[[gnu::always_inline]] inline void transform_prime(Pair<V>* a) noexcept {
  constexpr int half = (n - 1) / 2;
  Pair<V> sum[half], difference[half];
  const Pair<V> first = a[0];
  repeat<half>([&](auto j) __attribute__((always_inline)) {
    sum[j] = a[j + 1] + a[n - 1 - j];
    difference[j] = a[j + 1] - a[n - 1 - j];
    a[0] = a[0] + sum[j];
  });
  repeat<half>([&](auto k) __attribute__((always_inline)) {
    Pair<V> even = first, odd{};
    repeat<half>([&](auto j) __attribute__((always_inline)) {
      constexpr Turn w = turn((j + 1) * (k + 1), n);
      constexpr Real c = static_cast<Real>(w.re), s = static_cast<Real>(-w.im);
      even = {even.re + sum[j].re * c, even.im + sum[j].im * c};
      if constexpr (j == 0)
        odd = {difference[j].re * s, difference[j].im * s};
      else
        odd = {odd.re + difference[j].re * s, odd.im + difference[j].im * s};
    });
    a[k + 1] = {even.re + odd.im, even.im - odd.re};
    a[n - 1 - k] = {even.re - odd.im, even.im + odd.re};
  });
}

template <int n, int outer, class Real, class V>
[[gnu::always_inline]] inline void transform_composite(Pair<V>* a) noexcept {
  constexpr int inner = n / outer;
  Pair<V> rows[n];
  repeat<inner>([&](auto j) __attribute__((always_inline)) {
    Pair<V> column[outer];
    repeat<outer>([&](auto i) __attribute__((always_inline)) { column[i] = a[i * inner + j]; });
    transform<outer, Real>(column);
    repeat<outer>([&](auto k) __attribute__((always_inline)) {
      rows[k * inner + j] = turned<k * j, n, Real>(column[k]);
    });
  });
  repeat<outer>([&](auto k) __attribute__((always_inline)) {
    transform<inner, Real>(rows + k * inner);
    repeat<inner>([&](auto j) __attribute__((always_inline)) { a[k + outer * j] = rows[k * inner + j]; });
  });
}

/// Forward transform of `n` values, in place and in order.
template <int n, class Real, class V>
[[gnu::always_inline]] inline void transform(Pair<V>* a) noexcept {
  if constexpr (n == 1) {
  } else if constexpr (n == 2) {
    const Pair<V> first = a[0];
    a[0] = first + a[1];
    a[1] = first - a[1];
  } else if constexpr (smallest_factor(n) == n)
    transform_prime<n, Real>(a);
  else
    transform_composite<n, smallest_factor(n), Real>(a);
}

/// One pass of Stockham's algorithm: n = radix * m values at a stride s, from `in` to `out`.
template <int radix, class Real, class V>
void pass(const Pair<V>* __restrict in, Pair<V>* __restrict out, std::int64_t m, std::int64_t s,
          const Real* turns) noexcept {
  if (m == 1) {
    for (std::int64_t q = 0; q < s; ++q) {
      Pair<V> a[radix];
      repeat<radix>([&](auto j) __attribute__((always_inline)) { a[j] = in[q + s * j]; });
      transform<radix, Real>(a);
      repeat<radix>([&](auto j) __attribute__((always_inline)) { out[q + s * j] = a[j]; });
    }
    return;
  }
  for (std::int64_t p = 0; p < m; ++p, turns += 2 * (radix - 1))
    for (std::int64_t q = 0; q < s; ++q) {
      Pair<V> a[radix];
      repeat<radix>([&](auto j) __attribute__((always_inline)) { a[j] = in[q + s * (p + m * j)]; });
      transform<radix, Real>(a);
      out[q + s * radix * p] = a[0];
      repeat<radix - 1>([&](auto j) __attribute__((always_inline)) {
        out[q + s * (radix * p + j + 1)] = times(a[j + 1], turns[2 * j], turns[2 * j + 1]);
      });
    }
}

}  // namespace tailrace::ultrasound::fft
