// SPDX-License-Identifier: BSD-3-Clause
/// The task graphs that benchmarks execute: who reads whom, and how a wrong input is found.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <stdexcept>

#include "work.hpp"

using namespace tailrace::bench;

namespace {

using Numbers = std::vector<int>;

Graph graph(Pattern pattern, int width = 8, int steps = 20, int radix = 3) {
  return Graph({.pattern = pattern, .width = width, .steps = steps, .radix = radix});
}
Numbers inputs(const Graph& of, int step, int point) {
  const auto found = of.inputs(step, point);
  return {found.begin(), found.end()};
}
Points points(const Graph& of, int step) {
  return of.points(step);
}

/// What has to hold for any graph: inputs exist, readers are those who read, and what is said of steps that
/// repeat is so.
void check(const Graph& of) {
  for (int step = 0; step < of.steps(); ++step) {
    const auto here = of.points(step);
    REQUIRE((0 <= here.begin && here.begin < here.end && here.end <= of.width()));
    std::map<int, int> read;
    for (int point = here.begin; point < here.end; ++point) {
      CHECK((step > 0 || inputs(of, step, point).empty()));
      for (const int input : of.inputs(step, point)) {
        CHECK(of.points(step - 1).has(input));
        ++read[input];
      }
      const int like = of.regular_begin() + (step - of.regular_begin()) % of.repeat();
      if (of.regular_begin() <= step && step < of.regular_end()) {
        CHECK(inputs(of, step, point) == inputs(of, like, point));
        CHECK(of.readers(step, point) == of.readers(like, point));
      }
    }
    for (int point = 0; step > 0 && point < of.width(); ++point)
      CHECK(of.readers(step - 1, point) == read[point]);
  }
}

}  // namespace

TEST_CASE("task graphs: every pattern on odd and on short shapes") {
  for (const auto& [name, pattern] : pattern_names())
    for (const int width : {1, 2, 5, 8})
      for (const int steps : {1, 2, 7, 30}) {
        INFO(name, ", ", width, " points, ", steps, " steps");
        check(Graph({.pattern = pattern, .width = width, .steps = steps, .radix = std::min(3, width)}));
      }
}

TEST_CASE("task graphs: who reads whom") {
  CHECK(inputs(graph(Pattern::trivial), 3, 4).empty());
  CHECK(inputs(graph(Pattern::no_comm), 3, 4) == Numbers{4});
  CHECK(inputs(graph(Pattern::stencil_1d), 3, 0) == Numbers{0, 1});
  CHECK(inputs(graph(Pattern::stencil_1d), 3, 4) == Numbers{3, 4, 5});
  CHECK(inputs(graph(Pattern::stencil_1d_periodic), 3, 0) == Numbers{0, 1, 7});
  CHECK(inputs(graph(Pattern::tree), 6, 5) == Numbers{2});
  CHECK(inputs(graph(Pattern::all_to_all, 4), 1, 2) == Numbers{0, 1, 2, 3});
  CHECK(inputs(graph(Pattern::nearest, 8, 20, 5), 3, 4) == Numbers{2, 3, 4, 5, 6});
  CHECK(inputs(graph(Pattern::nearest, 8, 20, 5), 3, 7) == Numbers{5, 6, 7});
  const auto fft = graph(Pattern::fft);
  CHECK(inputs(fft, 1, 4) == Numbers{3, 4, 5});
  CHECK(inputs(fft, 2, 4) == Numbers{2, 4, 6});
  CHECK(inputs(fft, 3, 3) == Numbers{3, 7});
  CHECK(inputs(fft, 4, 4) == Numbers{3, 4, 5});
  const auto spread = graph(Pattern::spread, 9);
  CHECK(inputs(spread, 3, 0) == Numbers{0, 3, 6});
  CHECK(inputs(spread, 4, 0) == Numbers{0, 4, 7});
  CHECK(inputs(spread, 6, 0) == Numbers{0, 3, 6});
}

TEST_CASE("task graphs: points of a step") {
  const auto dom = graph(Pattern::dom, 4, 10);
  const std::array<int, 10> counts{1, 2, 3, 4, 4, 4, 4, 3, 2, 1};
  for (int step = 0; step < 10; ++step)
    CHECK(points(dom, step).count() == counts[static_cast<std::size_t>(step)]);
  CHECK(points(dom, 9).begin == 3);
  CHECK(dom.tasks() == 28);
  const auto tree = graph(Pattern::tree, 5, 6);
  CHECK(points(tree, 2).count() == 4);
  CHECK(points(tree, 3).count() == 5);
  CHECK(tree.tasks() == 1 + 2 + 4 + 5 + 5 + 5);
}

TEST_CASE("task graphs: random inputs are a share of the others', and repeat") {
  const auto all = graph(Pattern::nearest, 64, 40, 5);
  const auto some = graph(Pattern::random_nearest, 64, 40, 5);
  std::size_t kept = 0, possible = 0;
  for (int step = 1; step < 4; ++step)
    for (int point = 0; point < 64; ++point) {
      kept += some.inputs(step, point).size(), possible += all.inputs(step, point).size();
      CHECK(inputs(some, step, point) == inputs(some, step + 3, point));
    }
  CHECK(kept > possible / 3);
  CHECK(kept < 2 * possible / 3);
  CHECK(inputs(some, 1, 30) != inputs(some, 2, 30));
}

TEST_CASE("task graphs: shapes that make no sense") {
  CHECK_THROWS_AS(graph(Pattern::trivial, 0), std::invalid_argument);
  CHECK_THROWS_WITH(graph(Pattern::spread, 2, 5, 3), "the radix 3 of a graph is above its width 2");
}

TEST_CASE("task graphs: a consumer finds each byte of an input that is wrong") {
  Load load;
  load.graphs.push_back(graph(Pattern::stencil_1d));
  load.bytes = 40;
  std::array<std::array<std::byte, 40>, 3> outputs{};
  std::array<const std::byte*, 3> read{};
  for (std::size_t i = 0; i < 3; ++i) {
    execute(load, {0, 0, static_cast<int>(i) + 3}, {}, outputs[i]);
    read[i] = outputs[i].data();
  }
  std::array<std::byte, 40> next{};
  CHECK_NOTHROW(execute(load, {0, 1, 4}, read, next));
  for (const std::size_t at : {0U, 17U, 39U}) {
    outputs[1][at] ^= std::byte{1};
    CHECK_THROWS_AS(execute(load, {0, 1, 4}, read, next), std::runtime_error);
    outputs[1][at] ^= std::byte{1};
  }
  std::swap(read[0], read[2]);
  CHECK_THROWS_WITH(
      execute(load, {0, 1, 4}, read, next),
      "wrong input: point 4 of step 1 of graph 0 reads point 3 of step 0, and got bytes that name "
      "point 5 of step 0 of graph 0");
  CHECK_THROWS_WITH(execute(load, {0, 1, 4}, std::span(read).first(2), next),
                    "wrong input: point 4 of step 1 of graph 0 got 2 inputs, not 3");
}

TEST_CASE("task graphs: work is what the kernels count") {
  Load load;
  load.graphs.assign(2, graph(Pattern::no_comm, 3, 10));
  load.iterations = 100;
  CHECK(load.tasks() == 60);
  CHECK(load.work() == doctest::Approx(60 * (128 * 100 + 64)));
  load.kernel = Kernel::imbalanced;
  CHECK(load.work() == doctest::Approx(60 * (128 * 100 + 64)).epsilon(0.3));
  CHECK(load.iterations_of({0, 1, 2}) == load.iterations_of({0, 1, 2}));
  CHECK(load.iterations_of({0, 1, 2}) != load.iterations_of({0, 2, 2}));
  load.kernel = Kernel::empty;
  CHECK(load.work() == 0);
}
