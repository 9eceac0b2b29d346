// SPDX-License-Identifier: BSD-3-Clause
#include "base/signal.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

using namespace tailrace;

TEST_CASE("the mean frequency of a tone is the tone's") {
  constexpr double dt_s = 1e-3;
  for (const double frequency_hz : {10.0, 100.0, 400.0}) {
    std::vector<float> tone;
    for (int i = 0; i < 1000; ++i)
      tone.push_back(static_cast<float>(3 * std::sin(2 * std::numbers::pi * frequency_hz * i * dt_s)));
    CHECK(mean_frequency_hz<float>(tone, dt_s) == doctest::Approx(frequency_hz).epsilon(0.01));
  }
  CHECK(mean_frequency_hz<double>(std::vector<double>(50, 0.0), dt_s) == 0);
  CHECK(mean_frequency_hz<double>({}, dt_s) == 0);
  CHECK(mean_frequency_hz<double>(std::vector{0.0, 0.1, 0.4, 0.9, 0.8}, dt_s) == 0);
  const std::vector<double> highest{1, -1, 1, -1, 1, -1, 1, -1};
  CHECK(mean_frequency_hz<double>(highest, dt_s) > 380);
}
