// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"
#include "work.hpp"

namespace tailrace::bench {

/// Who executes a load.
struct Team {
  mpi::CommView comm;
  int workers = 1;
  bool steals = false;  ///< fragments move to ranks that have nothing to do
};

/// A way to execute task graphs. `run` returns the seconds from when all ranks are ready to when the last has
/// executed its last task, without the start of the system's threads; what the system has to do to get to
/// know the tasks is in them. @collective{comm}. Errors: std::runtime_error, a wrong input
struct System {
  const char* name;
  bool several_ranks;
  bool several_workers;
  double (*run)(const Team& team, const Load& load);
};
/// Those of this build. @local
std::span<const System> systems();

double run_fragments(const Team& team, const Load& load);
double run_mpi(const Team& team, const Load& load);
double run_openmp(const Team& team, const Load& load);
double run_starpu(const Team& team, const Load& load);
double run_tbb(const Team& team, const Load& load);

/// Outputs of the latest `kept_steps` steps of a graph in memory that all workers share.
inline constexpr int kept_steps = 8;
class Outputs {
 public:
  Outputs(const Load& load, int steps = kept_steps) : bytes_(load.bytes), steps_(steps) {
    for (const auto& graph : load.graphs)
      fields_.emplace_back(static_cast<std::size_t>(steps) * static_cast<std::size_t>(graph.width()) *
                           padded());
  }
  [[nodiscard]] std::byte* at(const Load& load, const Task& task) noexcept {
    const auto graph = static_cast<std::size_t>(task.graph);
    const auto slot = task.step % steps_ * load.graphs[graph].width() + task.point;
    return fields_[graph].data() + static_cast<std::size_t>(slot) * padded();
  }
  /// Executes a task whose inputs are here.
  void execute(const Load& load, const Task& task) {
    thread_local std::vector<const std::byte*> inputs;
    inputs.clear();
    for (const int point : load.graphs[static_cast<std::size_t>(task.graph)].inputs(task.step, task.point))
      inputs.push_back(at(load, {task.graph, task.step - 1, point}));
    bench::execute(load, task, inputs, {at(load, task), bytes_});
  }

 private:
  /// Each output has cache lines of its own.
  [[nodiscard]] std::size_t padded() const noexcept { return (bytes_ + 63) / 64 * 64; }
  std::size_t bytes_;
  int steps_;
  std::vector<std::vector<std::byte>> fields_;
};

/// Calls `each` for all tasks, step by step, the graphs one after the other in each.
template <class Each>
void for_each_task(const Load& load, const Each& each) {
  int steps = 0;
  for (const auto& graph : load.graphs) steps = std::max(steps, graph.steps());
  for (int step = 0; step < steps; ++step)
    for (int number = 0; const auto& graph : load.graphs) {
      if (step < graph.steps())
        for (int point = graph.points(step).begin; point < graph.points(step).end; ++point)
          each(graph, Task{number, step, point});
      ++number;
    }
}

}  // namespace tailrace::bench
