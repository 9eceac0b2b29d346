// SPDX-License-Identifier: BSD-3-Clause
/// StarPU's sequential task flow: tasks are inserted in order, dependences follow from how they access data.
#include <starpu.h>

#include <stdexcept>

#include "base/system.hpp"
#include "systems.hpp"

namespace tailrace::bench {

namespace {

struct Context {
  const Load* load;
  Outputs* outputs;
  FirstError* error;
};
struct Arguments {
  const Context* context;
  Task task;
};

void execute_task(void** /*buffers*/, void* packed) {
  Arguments arguments{};
  starpu_codelet_unpack_args(packed, &arguments);
  const auto& context = *arguments.context;
  context.error->guard([&] { context.outputs->execute(*context.load, arguments.task); });
}

starpu_codelet make_codelet() {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = execute_task;
  codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
  codelet.name = "task";
  return codelet;
}

/// StarPU with its workers, started once per number of workers.
class Runtime {
 public:
  explicit Runtime(int workers) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers, conf.ncuda = 0, conf.nopencl = 0;
    if (starpu_init(&conf) != 0) throw std::runtime_error("StarPU does not start");
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() { starpu_shutdown(); }
};

/// A handle for each output that is kept.
class Handles {
 public:
  Handles(const Load& load, Outputs& outputs) {
    for (int number = 0; const auto& graph : load.graphs) {
      auto& of = handles_.emplace_back(static_cast<std::size_t>(kept_steps * graph.width()));
      for (int slot = 0; slot < kept_steps * graph.width(); ++slot)
        starpu_variable_data_register(&of[static_cast<std::size_t>(slot)], STARPU_MAIN_RAM,
                                      reinterpret_cast<std::uintptr_t>(outputs.at(
                                          load, {number, slot / graph.width(), slot % graph.width()})),
                                      load.bytes);
      ++number;
    }
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    for (const auto& of : handles_)
      for (const auto handle : of) starpu_data_unregister(handle);
  }
  [[nodiscard]] starpu_data_handle_t of(const Graph& graph, const Task& task) const {
    return handles_[static_cast<std::size_t>(task.graph)]
                   [static_cast<std::size_t>(task.step % kept_steps * graph.width() + task.point)];
  }

 private:
  std::vector<std::vector<starpu_data_handle_t>> handles_;
};

void insert(starpu_codelet& codelet, const Context& context, const Graph& graph, const Task& task,
            const Handles& handles) {
  std::vector<starpu_data_descr> accesses;
  for (const int point : graph.inputs(task.step, task.point))
    accesses.push_back({handles.of(graph, {task.graph, task.step - 1, point}), STARPU_R});
  accesses.push_back({handles.of(graph, task), STARPU_W});
  const Arguments arguments{&context, task};
  const int status =
      starpu_task_insert(&codelet, STARPU_VALUE, &arguments, sizeof arguments, STARPU_DATA_MODE_ARRAY,
                         accesses.data(), static_cast<int>(accesses.size()), 0);
  if (status != 0) throw std::runtime_error("StarPU does not take a task");
}

}  // namespace

double run_starpu(const Team& team, const Load& load) {
  static const Runtime runtime(team.workers);
  static auto codelet = make_codelet();
  Outputs outputs(load);
  FirstError error;
  const Context context{&load, &outputs, &error};
  const Handles handles(load, outputs);
  const double start_s = monotonic_s();
  for_each_task(
      load, [&](const Graph& graph, const Task& task) { insert(codelet, context, graph, task, handles); });
  starpu_task_wait_for_all();
  const double seconds = monotonic_s() - start_s;
  error.rethrow();
  return seconds;
}

}  // namespace tailrace::bench
