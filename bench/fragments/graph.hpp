// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tailrace::bench {

/// Task graphs of `steps` x `width` points (Slaughter et al., Task Bench, SC20): which points of the step
/// before a point reads.
enum class Pattern {
  trivial,
  no_comm,
  stencil_1d,
  stencil_1d_periodic,
  dom,
  tree,
  fft,
  all_to_all,
  nearest,
  spread,
  random_nearest,
  random_spread
};
/// All of them by name.
const std::vector<std::pair<std::string, Pattern>>& pattern_names();

struct Shape {
  Pattern pattern = Pattern::stencil_1d;
  int width = 2, steps = 1000;
  int radix = 3;           ///< of nearest, spread and the random ones: inputs of a point
  int period = 3;          ///< of spread and the random ones: steps after which inputs repeat
  double fraction = 0.5;   ///< of the random ones: inputs that are kept
  std::uint64_t seed = 1;  ///< of the random ones
};

/// Points from `begin` to `end` - 1.
struct Points {
  int begin = 0, end = 0;
  [[nodiscard]] int count() const noexcept { return end - begin; }
  [[nodiscard]] bool has(int point) const noexcept { return begin <= point && point < end; }
};

/// The inputs of all points, looked up in tables, so that they cost all systems the same.
class Graph {
 public:
  /// @local. Errors: std::invalid_argument, a shape without points, steps or inputs
  explicit Graph(const Shape& shape);

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] int width() const noexcept { return shape_.width; }
  [[nodiscard]] int steps() const noexcept { return shape_.steps; }
  /// The points that a step has.
  [[nodiscard]] Points points(int step) const noexcept { return row(step).points; }
  /// The points of the step before that a point reads, in order; none in step 0.
  [[nodiscard]] std::span<const int> inputs(int step, int point) const noexcept {
    const Row& of = row(step);
    const auto at = static_cast<std::size_t>(point);
    return {of.inputs.data() + of.first[at], of.inputs.data() + of.first[at + 1]};
  }
  /// How many points of the step after read a point.
  [[nodiscard]] int readers(int step, int point) const noexcept;
  [[nodiscard]] std::int64_t tasks() const noexcept;

  /// Steps before `regular_begin`, and from `regular_end` on, have inputs of their own; those between repeat
  /// after `repeat` steps, readers too.
  [[nodiscard]] int regular_begin() const noexcept { return begin_; }
  [[nodiscard]] int regular_end() const noexcept { return end_; }
  [[nodiscard]] int repeat() const noexcept { return repeat_; }

 private:
  struct Row {
    Points points;
    std::vector<int> inputs;
    std::vector<std::size_t> first;  ///< of the inputs of each point
  };
  [[nodiscard]] const Row& row(int step) const noexcept { return rows_[row_of(step)]; }
  [[nodiscard]] std::size_t row_of(int step) const noexcept;
  [[nodiscard]] Row make_row(int step) const;

  Shape shape_;
  int begin_ = 0, end_ = 0, repeat_ = 1;
  std::vector<Row> rows_;
};

}  // namespace tailrace::bench
