// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <random>

#include "problem.hpp"

using namespace tailrace;
using namespace tailrace::heat;

namespace {

/// Whether it enters, step by step.
bool seen_inside(const Problem& problem) {
  for (StepIndex step = 0; step <= problem.steps; ++step)
    if (problem.ball_at(static_cast<double>(step) * problem.dt).touches({})) return true;
  return false;
}

/// A ball that may pass the cube, rest, or miss it by a little.
Problem random_problem(std::mt19937& random) {
  std::uniform_real_distribution<double> place(-1, 2), velocity(-3, 3), radius(0.001, 0.3), dt(0.001, 0.5);
  std::uniform_int_distribution<int> steps(0, 40), zero(0, 3);
  Problem problem;
  for (std::size_t d = 0; d < 3; ++d) {
    problem.centre[d] = place(random);
    problem.velocity[d] = zero(random) == 0 ? 0 : velocity(random);
  }
  problem.radius = radius(random);
  problem.dt = dt(random);
  problem.steps = steps(random);
  return problem;
}

}  // namespace

TEST_CASE("whether the ball enters is what a look at every step says") {
  std::mt19937 random(1);
  int inside = 0, outside = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto problem = random_problem(random);
    CAPTURE(i);
    const bool expected = seen_inside(problem);
    CHECK(problem.ball_enters() == expected);
    ++(expected ? inside : outside);
  }
  CHECK(inside > 2000);
  CHECK(outside > 2000);
}

TEST_CASE("a ball that never enters is known at once, however many steps there are") {
  Problem problem;
  problem.steps = 100'000'000'000;
  problem.centre = {-1, 0.5, 0.5};
  problem.velocity = {-1, 0, 0};
  CHECK_FALSE(problem.ball_enters());
  problem.velocity = {0, 0, 0};
  CHECK_FALSE(problem.ball_enters());
  problem.velocity = {1e-8, 0, 0};
  CHECK(problem.ball_enters());
}
