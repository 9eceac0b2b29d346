// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>

/// Against the numbers of published examples, and against the loss that the interval is to make least.
namespace tailrace::checkpoint {

namespace {

/// Expected time for work of `work_s`, with exponential failures and no time for the restart: Daly (2006),
/// equation (20).
double expected_s(double interval_s, double cost_s, double mtbf_s, double work_s) {
  return mtbf_s * std::expm1((interval_s + cost_s) / mtbf_s) * work_s / interval_s;
}

}  // namespace

TEST_CASE("the interval is near the one that loses least") {
  for (const double cost_s : {1.0, 10.0, 60.0, 600.0}) {
    const double mtbf_s = 6 * 3600.0, interval_s = daly_interval_s(cost_s, mtbf_s);
    double best_s = INFINITY;
    for (double tried_s = cost_s / 10; tried_s < mtbf_s; tried_s *= 1.001)
      best_s = std::min(best_s, expected_s(tried_s, cost_s, mtbf_s, 1e6));
    CAPTURE(cost_s);
    CHECK(expected_s(interval_s, cost_s, mtbf_s, 1e6) < 1.0001 * best_s);
  }
  CHECK(daly_interval_s(10, 24 * 3600) == doctest::Approx(22 * 60).epsilon(0.02));
  CHECK(daly_interval_s(60, 6 * 3600) == doctest::Approx(26.5 * 60).epsilon(0.03));
  CHECK(daly_interval_s(500, 200) == 200);
}

TEST_CASE("checkpoints are due by steps") {
  Schedule schedule({.every_steps = 10, .every_s = {}, .mtbf_s = {}});
  CHECK_FALSE(schedule.is_due_by_steps(9));
  CHECK_FALSE(schedule.is_due_by_clock(1e9));
  CHECK(schedule.is_due_by_steps(10));
  schedule.mark_taken(10, 0, 1);
  CHECK_FALSE(schedule.is_due_by_steps(10));
  CHECK_FALSE(schedule.is_due_by_steps(19));
  CHECK(schedule.is_due_by_steps(20));
  CHECK(schedule.is_due_by_steps(25));  // one was left out
  CHECK_FALSE(Schedule({.every_steps = 10, .every_s = {}, .mtbf_s = {}}, 20).is_due_by_steps(20));
  CHECK_FALSE(Schedule({}).is_due_by_steps(1000));
}

TEST_CASE("checkpoints are due by the clock, at what they cost") {
  Schedule schedule({.every_steps = {}, .every_s = {}, .mtbf_s = 1000});
  CHECK_FALSE(schedule.is_due_by_steps(1000));
  CHECK_FALSE(schedule.is_due_by_clock(9.9));
  CHECK(schedule.is_due_by_clock(10.1));
  schedule.mark_taken(1, 10, 0.5);
  const double interval_s = daly_interval_s(0.5, 1000);
  CHECK(schedule.interval_s() == interval_s);
  CHECK_FALSE(schedule.is_due_by_clock(10 + 0.99 * interval_s));
  CHECK(schedule.is_due_by_clock(10 + 1.01 * interval_s));
  schedule.mark_taken(2, 50, 1.5);
  CHECK(schedule.interval_s() == daly_interval_s(1, 1000));
  CHECK(Schedule({.every_steps = {}, .every_s = 3, .mtbf_s = 1000}).is_due_by_clock(3.5));
}

}  // namespace tailrace::checkpoint
