// SPDX-License-Identifier: BSD-3-Clause
#include "graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/random.hpp"

namespace tailrace::bench {

const std::vector<std::pair<std::string, Pattern>>& pattern_names() {
  static const std::vector<std::pair<std::string, Pattern>> names{
      {"trivial", Pattern::trivial},
      {"no_comm", Pattern::no_comm},
      {"stencil_1d", Pattern::stencil_1d},
      {"stencil_1d_periodic", Pattern::stencil_1d_periodic},
      {"dom", Pattern::dom},
      {"tree", Pattern::tree},
      {"fft", Pattern::fft},
      {"all_to_all", Pattern::all_to_all},
      {"nearest", Pattern::nearest},
      {"spread", Pattern::spread},
      {"random_nearest", Pattern::random_nearest},
      {"random_spread", Pattern::random_spread}};
  return names;
}

namespace {

/// The smallest d with 2^d >= width.
int levels(int width) {
  return std::bit_width(static_cast<unsigned>(width - 1));
}

bool is_periodic(Pattern pattern) {
  return pattern == Pattern::spread || pattern == Pattern::random_nearest ||
         pattern == Pattern::random_spread;
}

/// Steps after which inputs repeat.
int repeat_of(const Shape& shape) {
  if (shape.pattern == Pattern::fft) return std::max(1, levels(shape.width));
  return is_periodic(shape.pattern) ? shape.period : 1;
}

/// Steps at the beginning whose inputs are those of no later step: step 0, and while the width grows.
int beginning(const Shape& shape) {
  if (shape.pattern == Pattern::dom) return shape.width;
  return shape.pattern == Pattern::tree ? levels(shape.width) + 1 : 1;
}

Points points_of(const Shape& shape, int step) {
  const int width = shape.width;
  if (shape.pattern == Pattern::dom) {
    const int begin = std::max(0, step + width - shape.steps);
    return {begin, begin + std::min({width, step + 1, shape.steps - step})};
  }
  if (shape.pattern == Pattern::tree && step < levels(width)) return {0, 1 << step};
  return {0, width};
}

/// Whether an input of a random pattern is kept.
bool is_kept(const Shape& shape, int step, int point, int input) {
  const auto at = static_cast<std::uint64_t>(step % shape.period);
  auto bits = mixed_bits(shape.seed + at * SplitMix64::increment);
  for (const int number : {point, input}) bits = mixed_bits(bits + static_cast<std::uint64_t>(number) + 1);
  return SplitMix64::unit_of(bits) < shape.fraction;
}

std::vector<int> range(int first, int last) {
  std::vector<int> found;
  for (int i = first; i <= last; ++i) found.push_back(i);
  return found;
}

/// `radix` points around one.
std::vector<int> nearest(const Shape& shape, int point) {
  return range(point - shape.radix / 2, point + (shape.radix - 1) / 2);
}

/// The point itself, and others at equal distances, shifted from step to step.
std::vector<int> spread(const Shape& shape, int step, int point) {
  std::vector<int> found;
  for (int i = 0; i < shape.radix; ++i)
    found.push_back((point + i * shape.width / shape.radix + (i > 0 ? step % shape.period : 0)) %
                    shape.width);
  return found;
}

std::vector<int> around_ring(int point, int width) {
  return {(point + width - 1) % width, point, (point + 1) % width};
}

std::vector<int> butterfly(const Shape& shape, int step, int point) {
  const int distance = 1 << ((step - 1) % repeat_of(shape));
  return {point - distance, point, point + distance};
}

/// The points that the pattern names, whether the step before has them or not.
std::vector<int> named(const Shape& shape, int step, int point) {
  switch (shape.pattern) {
    case Pattern::trivial:
      return {};
    case Pattern::no_comm:
      return {point};
    case Pattern::stencil_1d:
      return range(point - 1, point + 1);
    case Pattern::stencil_1d_periodic:
      return around_ring(point, shape.width);
    case Pattern::dom:
      return range(point - 1, point);
    case Pattern::tree:
      return {point / 2};
    case Pattern::fft:
      return butterfly(shape, step, point);
    case Pattern::all_to_all:
      return range(0, shape.width - 1);
    case Pattern::nearest:
    case Pattern::random_nearest:
      return nearest(shape, point);
    case Pattern::spread:
    case Pattern::random_spread:
      return spread(shape, step, point);
  }
  return {};
}

std::vector<int> inputs_of(const Shape& shape, int step, int point) {
  if (step == 0) return {};
  auto found = named(shape, step, point);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  const bool random = shape.pattern == Pattern::random_nearest || shape.pattern == Pattern::random_spread;
  const auto before = points_of(shape, step - 1);
  std::erase_if(found, [&](int input) {
    return !before.has(input) || (random && !is_kept(shape, step, point, input));
  });
  return found;
}

void check(const Shape& shape) {
  if (shape.width < 1 || shape.steps < 1 || shape.radix < 1 || shape.period < 1)
    throw std::invalid_argument("width, steps, radix and period of a graph are at least 1");
  if (shape.radix > shape.width)
    throw std::invalid_argument(
        fmt::format("the radix {} of a graph is above its width {}", shape.radix, shape.width));
}

}  // namespace

Graph::Graph(const Shape& shape) : shape_(shape), repeat_(repeat_of(shape)) {
  if (!is_periodic(shape.pattern) && shape.pattern != Pattern::nearest)
    shape_.radix = std::min(shape_.radix, shape_.width);
  check(shape_);
  const int ending = shape.pattern == Pattern::dom ? shape.width : 1;
  begin_ = std::min(beginning(shape), shape.steps);
  end_ = std::max(begin_, shape.steps - ending);
  for (int step = 0; step < std::min(begin_ + repeat_, shape.steps); ++step) rows_.push_back(make_row(step));
  if (shape.pattern == Pattern::dom)
    for (int step = end_; step < shape.steps; ++step) rows_.push_back(make_row(step));
}

Graph::Row Graph::make_row(int step) const {
  Row row{points_of(shape_, step), {}, {0}};
  for (int point = 0; point < shape_.width; ++point) {
    if (row.points.has(point))
      std::ranges::copy(inputs_of(shape_, step, point), std::back_inserter(row.inputs));
    row.first.push_back(row.inputs.size());
  }
  return row;
}

std::size_t Graph::row_of(int step) const noexcept {
  if (step < begin_) return static_cast<std::size_t>(step);
  if (shape_.pattern == Pattern::dom && step >= end_)
    return rows_.size() - static_cast<std::size_t>(shape_.steps - step);
  return static_cast<std::size_t>(begin_ + (step - begin_) % repeat_);
}

int Graph::readers(int step, int point) const noexcept {
  if (step + 1 >= shape_.steps) return 0;
  return static_cast<int>(std::ranges::count(row(step + 1).inputs, point));
}

std::int64_t Graph::tasks() const noexcept {
  std::int64_t sum = 0;
  for (int step = 0; step < shape_.steps; ++step) sum += points(step).count();
  return sum;
}

}  // namespace tailrace::bench
