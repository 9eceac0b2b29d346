// SPDX-License-Identifier: BSD-3-Clause
// Programs that are described in C++.
#include "tailrace/fragments/program.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <optional>

namespace tailrace::test {

namespace {

using namespace tailrace::fragments;  // NOLINT: this file is about its words

Block<double> first_strip(int i, int count) {
  Block<double> strip(4);
  for (double& value : strip.values()) value = i == count + 1 ? 1 : 0;
  return strip;
}

/// Relaxation of strips towards the mean of their neighbours until the largest change is small; keeps what
/// `show` gets.
Program relaxation(std::optional<double>& result, std::optional<int>& sweeps) {
  Program program("relaxation");
  const auto begin = program.atomic("begin", [](int i, int count) { return first_strip(i, count); });
  const auto sweep = program.atomic(
      "sweep", [](const Block<double>& left, const Block<double>& here, const Block<double>& right) {
        Block<double> next(here.size());
        double change = 0;
        for (std::size_t i = 0; i < here.size(); ++i) {
          next[i] = (left[i] + right[i]) / 2;
          change += (next[i] - here[i]) * (next[i] - here[i]);
        }
        return std::tuple(next, change);
      });
  const auto add = program.atomic("add", [](double a, double b) { return a + b; });
  const auto keep = program.atomic("keep", [](const Block<double>& value) { return value; });
  const auto show =
      program.atomic("show", [&](const Block<double>& middle, int k) { result = middle[2], sweeps = k; });
  const auto zero = program.atomic("zero", [] { return 0.0; });
  const auto large = program.atomic("large", [] { return 1.0; });
  program.main<int, double>([&](Scope& scope, const Int& strips, const Real& tolerance) {
    const auto u = scope.data<Block<double>>("u");
    const auto change = scope.data<double>("change");
    const auto sum = scope.data<double>("sum");
    const auto last = scope.data<int>("last");
    scope.for_each(0, strips + 1,
                   [&](Scope& s, const Int& i) { s.call(begin).with(i, strips).into(u[0][i]); });
    scope.call(large).with().into(sum[0][strips]);
    scope.repeat_while(
        last, 0, [&](const Int& k) { return sum[k][strips] > tolerance; },
        [&](Scope& s, const Int& k) {
          s.call(zero).with().into(sum[k + 1][0]);
          s.call(keep).with(u[k][0]).into(u[k + 1][0]);
          s.call(keep).with(u[k][strips + 1]).into(u[k + 1][strips + 1]);
          s.for_each(1, strips, [&](Scope& t, const Int& i) {
            t.call(sweep).with(u[k][i - 1], u[k][i], u[k][i + 1]).into(u[k + 1][i], change[k + 1][i]).on(i);
            t.call(add).with(sum[k + 1][i - 1], change[k + 1][i]).into(sum[k + 1][i]).reads(sum[k + 1][i], 1);
          });
        });
    scope.when(last > 0, [&](Scope& s) { s.call(show).with(u[last][strips / 2], last); });
  });
  return program;
}

}  // namespace

TEST_CASE("a program described in C++ computes what a loop computes") {
  std::optional<double> result;
  std::optional<int> sweeps;
  const auto outcome = run_alone(relaxation(result, sweeps), {"5", "1e-6"});
  REQUIRE(outcome.errors == std::vector<std::string>{});
  std::vector<double> u{0, 0, 0, 0, 0, 0, 1};
  int k = 0;
  for (double change = 1; change > 1e-6; ++k) {
    auto next = u;
    change = 0;
    for (std::size_t i = 1; i <= 5; ++i) {
      next[i] = (u[i - 1] + u[i + 1]) / 2;
      double of_strip = 0;
      for (int cell = 0; cell < 4; ++cell) of_strip += (next[i] - u[i]) * (next[i] - u[i]);
      change += of_strip;
    }
    u = next;
  }
  CHECK(result == u[2]);
  CHECK(sweeps == k);
}

TEST_CASE("messages name data fragments and places in C++ sources") {
  Program program("faulty");
  const auto need = program.atomic("need", [](int) {});
  int line = 0;
  program.main([&](Scope& scope) {
    const auto x = scope.data<int>("x");
    scope.for_each(0, 1, [&](Scope& s, const Int& i) {
      line = __LINE__ + 1;
      s.call(need).with(x[i * 2]);
    });
  });
  const auto outcome = run_alone(program, {});
  REQUIRE(outcome.errors.size() == 2);
  const auto place = std::string(__FILE__) + ":" + std::to_string(line) + ":";
  CHECK(outcome.errors[0].starts_with(place));
  CHECK(outcome.errors[0].find("2 fragments wait. Nobody writes x[0]. [SEM3]") != std::string::npos);
  CHECK(outcome.errors[1].find("Nobody writes x[2]. [SEM3]") != std::string::npos);
}

// Wrong types do not compile.
template <class C, class... Inputs>
concept takes = requires(C call, Inputs... inputs) {
  call.with(inputs...);
};
using OneBlock = Call<std::tuple<Block<double>>, std::tuple<double>>;
static_assert(takes<OneBlock, Data<Block<double>>>);
static_assert(!takes<OneBlock, Data<Block<float>>>);
static_assert(!takes<OneBlock, Int>);
static_assert(!takes<OneBlock>);

}  // namespace tailrace::test
