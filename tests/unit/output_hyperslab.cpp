// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "h5/file.hpp"
#include "output/sinks/hyperslab.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// The elements of blocks one after the other, counted with the last index fastest.
std::vector<std::int64_t> elements_of(const h5::Shape& shape, const std::vector<h5::Hyperslab>& hyperslabs) {
  std::vector<std::int64_t> all;
  for (const auto& hyperslab : hyperslabs) {
    const auto count = h5::element_count(hyperslab.count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t element = 0, rest = i, stride = 1;
      for (std::size_t k = shape.size(); k-- > 0;) {
        element += (hyperslab.start[k] + rest % hyperslab.count[k]) * stride;
        rest /= hyperslab.count[k];
        stride *= shape[k];
      }
      all.push_back(static_cast<std::int64_t>(element));
    }
  }
  return all;
}

std::vector<std::int64_t> elements_of(const std::vector<Run>& runs) {
  std::vector<std::int64_t> all;
  for (const auto& run : runs)
    for (std::int64_t i = 0; i < run.length; ++i) all.push_back(run.offset + i);
  return all;
}

/// The rows of a box in a dataset, as runs.
std::vector<Run> rows_of(const h5::Shape& shape, const h5::Hyperslab& box) {
  std::vector<Run> runs;
  const auto all = elements_of(shape, {box});
  for (const auto element : all) {
    if (!runs.empty() && runs.back().offset + runs.back().length == element)
      ++runs.back().length;
    else
      runs.push_back({element, 1});
  }
  return runs;
}

}  // namespace

TEST_CASE("a box that is given row by row is one block") {
  const h5::Shape shape{6, 5, 7, 11};
  for (const h5::Hyperslab& box :
       {h5::Hyperslab{{2, 1, 3, 4}, {1, 3, 2, 5}}, h5::Hyperslab{{0, 0, 0, 0}, {6, 5, 7, 11}},
        h5::Hyperslab{{3, 0, 0, 0}, {1, 5, 7, 11}}, h5::Hyperslab{{3, 2, 0, 0}, {1, 2, 7, 11}},
        h5::Hyperslab{{5, 4, 6, 10}, {1, 1, 1, 1}}, h5::Hyperslab{{1, 2, 2, 0}, {1, 3, 4, 11}}})
    CHECK(hyperslabs_of(shape, rows_of(shape, box)) == std::vector<h5::Hyperslab>{box});
}

TEST_CASE("a sample in the middle of a list of shape (1, samples, points) is one block") {
  CHECK(hyperslabs_of({1, 20, 6}, std::vector<Run>{{18, 6}}) ==
        std::vector<h5::Hyperslab>{{{0, 3, 0}, {1, 1, 6}}});
  CHECK(hyperslabs_of({1, 20, 6}, std::vector<Run>{{20, 3}}) ==
        std::vector<h5::Hyperslab>{{{0, 3, 2}, {1, 1, 3}}});
}

TEST_CASE("nothing, and a single value, are no blocks and one") {
  CHECK(hyperslabs_of({4, 4}, {}).empty());
  CHECK(hyperslabs_of({}, std::vector<Run>{{0, 1}}) == std::vector<h5::Hyperslab>{{}});
}

TEST_CASE("any runs become blocks with the same elements in the same order") {
  std::mt19937 random(5);
  const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
  for (int round = 0; round < 500; ++round) {
    h5::Shape shape(1 + static_cast<std::size_t>(below(4)));
    for (auto& n : shape) n = 1 + static_cast<std::uint64_t>(below(6));
    const auto elements = static_cast<std::int64_t>(h5::element_count(shape));
    std::vector<Run> runs;
    for (std::int64_t at = below(4); at < elements;) {
      const std::int64_t length = std::min(1 + below(20), elements - at);
      runs.push_back({at, length});
      at += length + 1 + below(3);
    }
    const auto hyperslabs = hyperslabs_of(shape, runs);
    CHECK(elements_of(shape, hyperslabs) == elements_of(runs));
  }
}
