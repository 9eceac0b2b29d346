// SPDX-License-Identifier: BSD-3-Clause
/// OpenMP tasks that depend on each other by `depend`.
#include <omp.h>

#include "base/system.hpp"
#include "systems.hpp"

namespace tailrace::bench {

namespace {

void create(const Load& load, const Graph& graph, const Task& task, Outputs& outputs, FirstError& error) {
  const auto inputs = graph.inputs(task.step, task.point);
  std::vector<char*> read;
  for (const int point : inputs)
    read.push_back(reinterpret_cast<char*>(outputs.at(load, {task.graph, task.step - 1, point})));
  char* const written = reinterpret_cast<char*>(outputs.at(load, task));
  const std::size_t count = read.size();
  char** const reads = read.data();
#pragma omp task default(none) firstprivate(task) shared(load, outputs, error) \
    depend(iterator(std::size_t i = 0                                          \
                    : count),                                                  \
           in                                                                  \
           : *reads[i]) depend(out                                             \
                               : *written)
  error.guard([&] { outputs.execute(load, task); });
}

}  // namespace

double run_openmp(const Team& team, const Load& load) {
  Outputs outputs(load);
  FirstError error;
  double start_s = 0, seconds = 0;
#pragma omp parallel num_threads(team.workers) default(none) shared(load, outputs, error, start_s, seconds)
#pragma omp single
  {
    start_s = monotonic_s();
    for_each_task(load,
                  [&](const Graph& graph, const Task& task) { create(load, graph, task, outputs, error); });
#pragma omp taskwait
    seconds = monotonic_s() - start_s;
  }
  error.rethrow();
  return seconds;
}

}  // namespace tailrace::bench
