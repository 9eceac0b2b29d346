// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/first_error.hpp"
#include "graph.hpp"

namespace tailrace::bench {

/// What a task computes.
enum class Kernel { empty, compute, memory, imbalanced };
const std::vector<std::pair<std::string, Kernel>>& kernel_names();

/// Names a task.
struct Task {
  int graph = 0, step = 0, point = 0;
};

/// Graphs that are executed at once, and what their tasks do.
struct Load {
  std::vector<Graph> graphs;
  Kernel kernel = Kernel::compute;
  std::int64_t iterations = 0;
  std::size_t bytes = 16;  ///< of an output
  double imbalance =
      1;  ///< of `imbalanced`: iterations from 1 - imbalance / 2 to 1 + imbalance / 2 of the mean
  bool planted = false;  ///< one output is wrong, which its first reader has to find

  [[nodiscard]] std::int64_t tasks() const noexcept;
  /// FLOP of all tasks, or with `memory` bytes that are read or written.
  [[nodiscard]] double work() const;
  /// The task whose output is wrong if one is planted: the first one of the middle step.
  [[nodiscard]] bool is_planted(const Task& task) const noexcept;
  /// Whether its output has readers.
  [[nodiscard]] bool has_planted() const noexcept;
  [[nodiscard]] std::int64_t iterations_of(const Task& task) const noexcept;
};

/// Smallest bytes of an output: it says whose it is.
inline constexpr std::size_t min_bytes = 16;

/// Executes a task: checks how many inputs there are and that each is the output that the graph says, all of
/// it; computes; writes the output. @local. Errors: std::runtime_error, a wrong input
void execute(const Load& load, const Task& task, std::span<const std::byte* const> inputs,
             std::span<std::byte> output);

/// Runs the kernel alone. @local
void compute(Kernel kernel, std::int64_t iterations);

}  // namespace tailrace::bench
