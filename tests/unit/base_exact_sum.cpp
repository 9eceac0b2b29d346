// SPDX-License-Identifier: BSD-3-Clause
#include "base/exact_sum.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"

using namespace tailrace;

namespace {

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

}  // namespace

TEST_CASE("exact sums lose nothing") {
  CHECK(sum_of({}) == 0);
  CHECK(sum_of({1e300, 1, -1e300}) == 1);
  CHECK(sum_of({-1e300, 1e-300, 1e300}) == 1e-300);
  CHECK(sum_of({0.1, 0.2, -0.3}) == std::ldexp(1.0, -55));  // the error of the three literals
  const double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  CHECK(sum_of({least}) == least);
  CHECK(sum_of({-least, -least}) == -2 * least);
  CHECK(sum_of({most}) == most);
  CHECK(sum_of({most, -most / 2}) == most / 2);
  CHECK(std::isnan(sum_of({1, std::numeric_limits<double>::infinity()})));
}

TEST_CASE("exact sums do not depend on order or on how they are divided") {
  SplitMix64 random(7);
  std::vector<double> values(3000);
  for (double& value : values)
    value = std::ldexp(random.unit() - 0.5, static_cast<int>(random.next() % 120) - 60);
  const double sum = sum_of(values);
  long double plain = 0;
  for (const double value : values) plain += value;
  CHECK(std::abs(sum - static_cast<double>(plain)) <= 1e-15 * std::ldexp(1.0, 60));
  ExactSum first, second;
  for (std::size_t i = 0; i < values.size(); ++i) (i % 3 == 0 ? first : second).add(values[i]);
  for (std::size_t i = 0; i < first.words().size(); ++i) first.words()[i] += second.words()[i];
  CHECK(first.value() == sum);
  std::reverse(values.begin(), values.end());
  CHECK(sum_of(values) == sum);
}

TEST_CASE("exact sums that are carried have room again, and stay") {
  constexpr double value = 0x1.fffffffffffffp0;
  for (const double sign : {1.0, -1.0}) {
    ExactSum sum;
    constexpr int times = 80;
    for (int i = 0; i < times; ++i) {
      // As 2^30 equal numbers leave it.
      ExactSum many;
      many.add(sign * value);
      for (auto& word : many.words()) word *= std::int64_t{1} << 30;
      for (std::size_t w = 0; w < sum.words().size(); ++w) sum.words()[w] += many.words()[w];
      sum.carry();
    }
    CHECK(sum.value() == sign * value * times * 0x1p30);
    for (std::size_t w = 0; w + 2 < sum.words().size(); ++w)
      CHECK((sum.words()[w] >= 0 && sum.words()[w] < std::int64_t{1} << 32));
    for (int i = 0; i < times; ++i) sum.add(-sign * value * 0x1p30);
    CHECK(sum.value() == 0);
  }
  ExactSum none;
  none.add(std::numeric_limits<double>::infinity());
  none.carry();
  CHECK(std::isnan(none.value()));
}
