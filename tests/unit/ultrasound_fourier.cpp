// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "lanes.hpp"

namespace tailrace::ultrasound::fft {

namespace {

using Exact = std::complex<long double>;

/// The transform by its definition; turns from a table, so that its own error is that of one rounding each.
std::vector<Exact> exact_transform(const std::vector<Exact>& values) {
  const std::size_t n = values.size();
  std::vector<Exact> turns(n), sums(n);
  for (std::size_t k = 0; k < n; ++k)
    turns[k] = std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                                    static_cast<long double>(n));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) sums[k] += values[j] * turns[j * k % n];
  return sums;
}

template <class Real>
struct Run {
  explicit Run(const Fourier<Real>& fourier)
      : values(static_cast<std::size_t>(fourier.room())), spare(values.size()) {}
  std::vector<Pair<Wide<Real>>> values, spare;
};

template <class Real>
std::vector<Exact> fill(std::vector<Pair<Wide<Real>>>& values, std::int64_t n, int lane, unsigned seed = 0) {
  std::mt19937 generator(static_cast<unsigned>(n + lane) + seed);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  std::vector<Exact> exact;
  for (std::int64_t k = 0; k < n; ++k) {
    auto& value = values[static_cast<std::size_t>(k)];
    value.re[lane] = uniform(generator);
    value.im[lane] = uniform(generator);
    exact.emplace_back(value.re[lane], value.im[lane]);
  }
  return exact;
}

/// Root of the mean square error over that of the values.
template <class Real>
double error_of(const Pair<Wide<Real>>* found, int lane, const std::vector<Exact>& wanted) {
  long double error = 0, size = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    error += std::norm(Exact(found[k].re[lane], found[k].im[lane]) - wanted[k]);
    size += std::norm(wanted[k]);
  }
  return static_cast<double>(std::sqrt(error / size));
}

template <class Real>
double worst_error(std::int64_t n) {
  const Fourier<Real> fourier(n);
  Run<Real> run(fourier);
  constexpr int lanes = simd::lanes<Real>;
  std::vector<std::vector<Exact>> exact;
  for (int lane = 0; lane < lanes; ++lane) exact.push_back(fill<Real>(run.values, n, lane));
  const auto* result = fourier.forward(run.values.data(), run.spare.data());
  return std::max(error_of<Real>(result, 0, exact_transform(exact.front())),
                  error_of<Real>(result, lanes - 1, exact_transform(exact.back())));
}

}  // namespace

TEST_CASE("transforms of every length agree with the definition") {
  for (std::int64_t n = 1; n <= 211; ++n) {
    CAPTURE(n);
    CHECK(worst_error<float>(n) < 4e-7);
    CHECK(worst_error<double>(n) < 8e-16);
  }
  for (const std::int64_t n : {256, 257, 384, 480, 509, 512, 625, 1000, 1024, 1331}) {
    CAPTURE(n);
    CHECK(worst_error<float>(n) < 4e-7);
    CHECK(worst_error<double>(n) < 8e-16);
  }
}

TEST_CASE("the radices of a length multiply to it") {
  for (std::int64_t n = 2; n <= 2048; ++n) {
    const auto radices = radices_of(n);
    if (radices.empty()) continue;
    CHECK(std::accumulate(radices.begin(), radices.end(), std::int64_t{1}, std::multiplies<>()) == n);
  }
  CHECK(radices_of(127).empty());
  CHECK(radices_of(128) == std::vector<int>{4, 4, 8});
}

TEST_CASE("a column becomes the same bits in every lane, beside whatever columns") {
  for (const std::int64_t n : {24, 25, 34, 121, 127, 128}) {
    CAPTURE(n);
    const Fourier<float> fourier(n);
    constexpr int lanes = simd::lanes<float>;
    std::vector<std::vector<float>> bits;
    for (int lane = 0; lane < lanes; ++lane) {
      Run<float> run(fourier), source(fourier);
      fill<float>(source.values, n, 0);
      for (int other = 0; other < lanes; ++other)
        if (other != lane) fill<float>(run.values, n, other, 1000);
      for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
        run.values[k].re[lane] = source.values[k].re[0];
        run.values[k].im[lane] = source.values[k].im[0];
      }
      const auto* result = fourier.forward(run.values.data(), run.spare.data());
      bits.emplace_back();
      for (std::int64_t k = 0; k < n; ++k) {
        bits.back().push_back(result[k].re[lane]);
        bits.back().push_back(result[k].im[lane]);
      }
    }
    for (const auto& each : bits)
      CHECK(std::memcmp(each.data(), bits.front().data(), each.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("values move between memory and lanes") {
  using V = Wide<float>;
  constexpr int lanes = lane_count<V>;
  std::vector<float> memory(2 * lanes), back(2 * lanes);
  std::iota(memory.begin(), memory.end(), 0.0F);
  const auto pair = load_pair<V>(memory.data());
  const auto order = in_lane_order<V>(memory.data());
  for (int lane = 0; lane < lanes; ++lane) {
    CHECK(pair.re[lane] == 2 * order[lane]);
    CHECK(pair.im[lane] == 2 * order[lane] + 1);
  }
  store_pair(back.data(), pair);
  CHECK(back == memory);

  V rows[lanes];
  for (int row = 0; row < lanes; ++row)
    for (int lane = 0; lane < lanes; ++lane) rows[row][lane] = static_cast<float>(100 * row + lane);
  transpose(rows);
  for (int row = 0; row < lanes; ++row)
    for (int lane = 0; lane < lanes; ++lane) CHECK(rows[row][lane] == static_cast<float>(100 * lane + row));
}

}  // namespace tailrace::ultrasound::fft
