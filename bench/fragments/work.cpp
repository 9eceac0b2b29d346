// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/random.hpp"

namespace tailrace::bench {

namespace {

constexpr std::size_t lanes = 64;
constexpr double flop_per_iteration = 2 * lanes, flop_more = lanes;
constexpr std::size_t page_bytes = 4096, scratch_pages = 512;

thread_local volatile double kept = 0;

/// 128 FLOP per iteration and 64 more.
void compute_bound(std::int64_t iterations) {
  std::array<double, lanes> values{};
  for (std::size_t i = 0; i < lanes; ++i) values[i] = 1e-3 * static_cast<double>(i);
  for (std::int64_t n = 0; n < iterations; ++n)
    for (double& value : values) value = value * value + 0.25;
  double sum = 0;
  for (const double value : values) sum += value;
  kept = sum;
}

/// Reads a page and writes it elsewhere, once per iteration.
void memory_bound(std::int64_t iterations) {
  thread_local std::vector<std::byte> scratch(2 * scratch_pages * page_bytes);
  for (std::int64_t n = 0; n < iterations; ++n) {
    std::byte* const page = scratch.data() + static_cast<std::size_t>(n) % scratch_pages * page_bytes;
    std::memcpy(page + scratch_pages * page_bytes, page, page_bytes);
  }
  kept = static_cast<double>(scratch.back());
}

/// What the outputs of a task repeat.
struct Mark {
  std::int32_t graph, step, point;
  std::uint32_t check;
};
static_assert(sizeof(Mark) == min_bytes);

Mark mark_of(const Task& task) {
  const auto bits = mixed_bits(static_cast<std::uint64_t>(task.step) << 32U |
                               static_cast<std::uint32_t>(task.point * 64 + task.graph));
  return {task.graph, task.step, task.point, static_cast<std::uint32_t>(bits)};
}

void fill(std::span<std::byte> output, const Task& task) {
  const Mark mark = mark_of(task);
  for (std::size_t at = 0; at < output.size(); at += sizeof mark)
    std::memcpy(output.data() + at, &mark, std::min(sizeof mark, output.size() - at));
}

bool is_output_of(const Task& task, std::span<const std::byte> bytes) {
  const Mark mark = mark_of(task);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof mark)
    if (std::memcmp(bytes.data() + at, &mark, std::min(sizeof mark, bytes.size() - at)) != 0) return false;
  return true;
}

void check_input(const Load& load, const Task& task, int point, const std::byte* bytes) {
  const Task wanted{task.graph, task.step - 1, point};
  if (is_output_of(wanted, {bytes, load.bytes})) return;
  Mark found{};
  std::memcpy(&found, bytes, sizeof found);
  throw std::runtime_error(fmt::format(
      "wrong input: point {} of step {} of graph {} reads point {} of step {}, and got bytes that "
      "name point {} of step {} of graph {}",
      task.point, task.step, task.graph, point, wanted.step, found.point, found.step, found.graph));
}

}  // namespace

const std::vector<std::pair<std::string, Kernel>>& kernel_names() {
  static const std::vector<std::pair<std::string, Kernel>> names{{"empty", Kernel::empty},
                                                                 {"compute", Kernel::compute},
                                                                 {"memory", Kernel::memory},
                                                                 {"imbalanced", Kernel::imbalanced}};
  return names;
}

void compute(Kernel kernel, std::int64_t iterations) {
  if (kernel == Kernel::empty) return;
  if (kernel == Kernel::memory) return memory_bound(iterations);
  compute_bound(iterations);
}

std::int64_t Load::iterations_of(const Task& task) const noexcept {
  if (kernel != Kernel::imbalanced) return iterations;
  const Mark mark = mark_of(task);
  const auto unit = SplitMix64::unit_of(mixed_bits(mark.check));
  return std::llround(static_cast<double>(iterations) * (1 + imbalance * (unit - 0.5)));
}

bool Load::is_planted(const Task& task) const noexcept {
  const auto& graph = graphs[static_cast<std::size_t>(task.graph)];
  const int step = (graph.steps() - 1) / 2;
  return task.graph == 0 && task.step == step && task.point == graph.points(step).begin;
}

bool Load::has_planted() const noexcept {
  const auto& graph = graphs.front();
  const int step = (graph.steps() - 1) / 2;
  return graph.readers(step, graph.points(step).begin) > 0;
}

std::int64_t Load::tasks() const noexcept {
  std::int64_t sum = 0;
  for (const auto& graph : graphs) sum += graph.tasks();
  return sum;
}

double Load::work() const {
  double sum = 0;
  for (int number = 0; const auto& graph : graphs) {
    for (int step = 0; step < graph.steps(); ++step)
      for (int point = graph.points(step).begin; point < graph.points(step).end; ++point)
        sum += static_cast<double>(iterations_of({number, step, point}));
    ++number;
  }
  if (kernel == Kernel::empty) return 0;
  if (kernel == Kernel::memory) return 2.0 * page_bytes * sum;
  return flop_per_iteration * sum + flop_more * static_cast<double>(tasks());
}

void execute(const Load& load, const Task& task, std::span<const std::byte* const> inputs,
             std::span<std::byte> output) {
  const auto wanted = load.graphs[static_cast<std::size_t>(task.graph)].inputs(task.step, task.point);
  if (inputs.size() != wanted.size())
    throw std::runtime_error(fmt::format("wrong input: point {} of step {} of graph {} got {} inputs, not {}",
                                         task.point, task.step, task.graph, inputs.size(), wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) check_input(load, task, wanted[i], inputs[i]);
  compute(load.kernel, load.iterations_of(task));
  fill(output, load.planted && load.is_planted(task) ? Task{task.graph, task.step, task.point + 1} : task);
}

}  // namespace tailrace::bench
