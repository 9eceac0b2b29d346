// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <algorithm>
#include <array>

#include "basis.hpp"

namespace tailrace::heat {

namespace {

constexpr std::array classes{
    NpbClass{'S', 4, 0.040, 50, 0.1890013110962e-02},  NpbClass{'W', 5, 0.060, 100, 0.2569794837076e-04},
    NpbClass{'A', 6, 0.076, 200, 0.8939996281443e-04}, NpbClass{'B', 7, 0.076, 200, 0.4507561922901e-04},
    NpbClass{'C', 8, 0.067, 200, 0.1544736587100e-04}, NpbClass{'D', 10, 0.046, 250, 0.1577586272355e-05},
    NpbClass{'E', 12, 0.0294, 250, std::nullopt},
};

}  // namespace

double default_time_step(int level, int order) {
  constexpr double share = 0.04;  // of the smallest element's size
  const auto least = [](int of) { return gll_places_of(of)[1] + 1; };
  return share * std::ldexp(1.0, -level) * std::min(1.0, least(order) / least(npb_order));
}

bool Problem::ball_enters() const noexcept {
  const auto ball_after = [this](StepIndex step) { return ball_at(static_cast<double>(step) * dt); };
  // Along a straight way the square of the distance to the cube is convex: it falls, then it rises.
  StepIndex low = 0, high = steps;
  while (low < high) {
    const StepIndex middle = low + (high - low) / 2;
    if (ball_after(middle).approaches({}, velocity))
      low = middle + 1;
    else
      high = middle;
  }
  return ball_after(low).touches({}) || ball_after(std::max<StepIndex>(low - 1, 0)).touches({});
}

Problem NpbClass::problem() const {
  Problem problem;
  problem.level = level;
  problem.radius = radius;
  problem.steps = steps;
  problem.dt = default_time_step(level, problem.order);
  return problem;
}

const NpbClass* find_class(const std::string& name) noexcept {
  const auto* const found = std::find_if(classes.begin(), classes.end(), [&](const NpbClass& one) {
    return name.size() == 1 && one.name == name.front();
  });
  return found == classes.end() ? nullptr : found;
}

std::string class_names() {
  std::string names;
  for (const auto& one : classes) names += (names.empty() ? "" : ", ") + std::string(1, one.name);
  return names;
}

const NpbClass* class_of(const Problem& problem) noexcept {
  const auto* const found = std::find_if(classes.begin(), classes.end(),
                                         [&](const NpbClass& one) { return one.problem() == problem; });
  return found == classes.end() ? nullptr : found;
}

}  // namespace tailrace::heat
