// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tailrace::ultrasound::fft {

namespace {

/// Prime factors above this one are cheaper by a convolution than by a pass of their own.
constexpr int largest_pass = 61;

/// Time of a pass per value, relative to radix 4, as a prototype found it on machines with
/// AVX2. It decides between radices only; another machine takes the same ones.
double cost_of(int radix) {
  switch (radix) {
    case 2:
      return 0.8;
    case 3:
      return 0.95;
    case 4:
      return 1;
    case 5:
      return 1.3;
    case 6:
      return 1.35;
    case 7:
      return 1.9;
    case 8:
      return 1.53;
    case 9:
      return 1.8;
    default:
      return 0.8 + 0.2 * radix;
  }
}

struct Choice {
  double cost = 0;
  std::vector<int> radices;
};

/// The cheapest radices, none below `least`, whose product is `n`, which has small factors only.
Choice cheapest(std::int64_t n, int least) {
  if (n == 1) return {};
  Choice best{.cost = 1e300, .radices = {}};
  for (int radix = least; radix <= std::min<std::int64_t>(n, largest_pass); ++radix) {
    const bool has_kernel = radix < 10 || smallest_factor(radix) == radix;
    if (n % radix != 0 || !has_kernel) continue;
    Choice rest = cheapest(n / radix, radix);
    if (rest.cost + cost_of(radix) >= best.cost) continue;
    best = {.cost = rest.cost + cost_of(radix), .radices = {radix}};
    best.radices.insert(best.radices.end(), rest.radices.begin(), rest.radices.end());
  }
  return best;
}

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return std::max(largest, n);
}

/// exp(-2 pi i k / n), k below n.
std::pair<double, double> turn_of(std::int64_t k, std::int64_t n) {
  const long double angle = 2 * std::numbers::pi_v<long double> * k / n;
  return {static_cast<double>(std::cos(angle)), static_cast<double>(-std::sin(angle))};
}

template <class Real>
void append_turn(AlignedVector<Real>& to, std::int64_t k, std::int64_t n) {
  const auto [re, im] = turn_of(k % n, n);
  to.push_back(static_cast<Real>(re));
  to.push_back(static_cast<Real>(im));
}

/// A pass of any odd prime radix; behind the factors of its butterflies are the turns of the prime.
template <class Real, class V>
void prime_pass(int radix, const Pair<V>* __restrict in, Pair<V>* __restrict out, std::int64_t m,
                std::int64_t s, const Real* turns) noexcept {
  const int half = (radix - 1) / 2;
  const Real* circle = turns + 2 * (radix - 1) * m;
  Pair<V> sum[largest_pass / 2], difference[largest_pass / 2];
  for (std::int64_t p = 0; p < m; ++p, turns += 2 * (radix - 1))
    for (std::int64_t q = 0; q < s; ++q) {
      const auto at = [&](int j) { return in[q + s * (p + m * j)]; };
      const auto put = [&](int k, const Pair<V>& value) {
        out[q + s * (radix * p + k)] = times(value, turns[2 * k - 2], turns[2 * k - 1]);
      };
      const Pair<V> first = at(0);
      Pair<V> total = first;
      for (int j = 0; j < half; ++j) {
        sum[j] = at(j + 1) + at(radix - 1 - j);
        difference[j] = at(j + 1) - at(radix - 1 - j);
        total = total + sum[j];
      }
      out[q + s * radix * p] = total;
      for (int k = 1; k <= half; ++k) {
        Pair<V> even = first, odd{};
        for (int j = 0, turned = k; j < half; ++j, turned = (turned + k) % radix) {
          const Real c = circle[2 * turned], sine = -circle[2 * turned + 1];
          even = {even.re + sum[j].re * c, even.im + sum[j].im * c};
          odd = {odd.re + difference[j].re * sine, odd.im + difference[j].im * sine};
        }
        put(k, {even.re + odd.im, even.im - odd.re});
        put(radix - k, {even.re - odd.im, even.im + odd.re});
      }
    }
}

template <class Real, class V>
void any_pass(int radix, const Pair<V>* in, Pair<V>* out, std::int64_t m, std::int64_t s,
              const Real* turns) noexcept {
  switch (radix) {
    case 2:
      return pass<2>(in, out, m, s, turns);
    case 3:
      return pass<3>(in, out, m, s, turns);
    case 4:
      return pass<4>(in, out, m, s, turns);
    case 5:
      return pass<5>(in, out, m, s, turns);
    case 6:
      return pass<6>(in, out, m, s, turns);
    case 7:
      return pass<7>(in, out, m, s, turns);
    case 8:
      return pass<8>(in, out, m, s, turns);
    case 9:
      return pass<9>(in, out, m, s, turns);
    case 11:
      return pass<11>(in, out, m, s, turns);
    case 13:
      return pass<13>(in, out, m, s, turns);
    default:
      return prime_pass(radix, in, out, m, s, turns);
  }
}

/// values *= factors, one complex number for each value.
template <class Real, class V>
void multiply(const Pair<V>* values, const Real* factors, Pair<V>* out, std::int64_t n) noexcept {
  for (std::int64_t k = 0; k < n; ++k) out[k] = times(values[k], factors[2 * k], factors[2 * k + 1]);
}

}  // namespace

std::vector<int> radices_of(std::int64_t n) {
  return largest_prime_factor(n) > largest_pass ? std::vector<int>{} : cheapest(n, 2).radices;
}

template <class Real>
Fourier<Real>::Fourier(std::int64_t n) : n_(n), room_(n) {
  n == 1 || !radices_of(n).empty() ? plan_passes() : plan_convolution();
}

template <class Real>
void Fourier<Real>::plan_passes() {
  std::int64_t left = n_, s = 1;
  for (const int radix : radices_of(n_)) {
    const std::int64_t m = left / radix;
    passes_.push_back({.radix = radix, .m = m, .s = s, .turns = turns_.size()});
    for (std::int64_t p = 0; p < m; ++p)
      for (int j = 1; j < radix; ++j) append_turn(turns_, p * j, left);
    for (int j = 0; j < radix; ++j) append_turn(turns_, j, radix);
    left = m;
    s *= radix;
  }
}

template <class Real>
void Fourier<Real>::plan_convolution() {
  std::int64_t longer = 2 * n_ - 1;
  while (largest_prime_factor(longer) > 5) ++longer;
  room_ = longer;
  convolution_ = std::make_unique<Fourier>(longer);
  for (std::int64_t k = 0; k < n_; ++k) append_turn(chirp_, k * k % (2 * n_), 2 * n_);
  // The filter is the transform of the conjugate chirp, with the normalisation of the way back.
  std::vector<Pair<Wide<double>>> values(static_cast<std::size_t>(longer)), spare(values.size());
  for (std::int64_t k = 0; k < n_; ++k) {
    const auto [re, im] = turn_of(k * k % (2 * n_), 2 * n_);
    for (const std::int64_t at : {k, (longer - k) % longer}) {
      values[static_cast<std::size_t>(at)].re[0] = re / static_cast<double>(longer);
      values[static_cast<std::size_t>(at)].im[0] = -im / static_cast<double>(longer);
    }
  }
  const auto* spectrum = Fourier<double>(longer).forward(values.data(), spare.data());
  for (std::int64_t k = 0; k < longer; ++k) {
    filter_.push_back(static_cast<Real>(spectrum[k].re[0]));
    filter_.push_back(static_cast<Real>(spectrum[k].im[0]));
  }
}

template <class Real>
template <class V>
Pair<V>* Fourier<Real>::run(Pair<V>* values, Pair<V>* spare) const noexcept {
  if (convolution_) return convolve(values, spare);
  for (const Pass& each : passes_) {
    any_pass(each.radix, values, spare, each.m, each.s, turns_.data() + each.turns);
    std::swap(values, spare);
  }
  return values;
}

template <class Real>
template <class V>
Pair<V>* Fourier<Real>::convolve(Pair<V>* values, Pair<V>* spare) const noexcept {
  multiply(values, chirp_.data(), values, n_);
  std::fill(values + n_, values + room_, Pair<V>{});
  Pair<V>* spectrum = convolution_->run(values, spare);
  multiply(spectrum, filter_.data(), spectrum, room_);
  Pair<V>* other = spectrum == values ? spare : values;
  Pair<V>* mirrored = convolution_->run(spectrum, other);
  Pair<V>* out = mirrored == values ? spare : values;
  for (std::int64_t k = 0; k < n_; ++k)
    out[k] = times(mirrored[(room_ - k) % room_], chirp_[2 * k], chirp_[2 * k + 1]);
  return out;
}

template <class Real>
Pair<Wide<Real>>* Fourier<Real>::forward(Pair<Wide<Real>>* values, Pair<Wide<Real>>* spare) const noexcept {
  return run(values, spare);
}

template <class Real>
Pair<Narrow<Real>>* Fourier<Real>::forward(Pair<Narrow<Real>>* values,
                                           Pair<Narrow<Real>>* spare) const noexcept
    requires(has_narrow<Real>) {
  return run(values, spare);
}

template class Fourier<float>;
template class Fourier<double>;

}  // namespace tailrace::ultrasound::fft
