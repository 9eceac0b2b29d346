// SPDX-License-Identifier: BSD-3-Clause
/// A flow graph of oneTBB with a node for each task; it is built within the time.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <deque>
#include <optional>

#include "base/system.hpp"
#include "systems.hpp"

namespace tailrace::bench {

namespace {

using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

/// All nodes of a load. Outputs of all steps are kept: a node may run before others have read older ones.
class FlowGraph {
 public:
  FlowGraph(const Load& load, FirstError& error) : load_(load), error_(error) {
    int steps = 0;
    for (const auto& graph : load.graphs) steps = std::max(steps, graph.steps());
    outputs_.emplace(load, steps);
    for (const auto& graph : load.graphs) nodes_.emplace_back(graph.width(), std::vector<Node*>{});
  }
  void run() {
    for_each_task(load_, [&](const Graph& graph, const Task& task) { add(graph, task); });
    for (auto* const node : first_) node->try_put({});
    flow_.wait_for_all();
  }

 private:
  void add(const Graph& graph, const Task& task) {
    auto& node = all_.emplace_back(flow_, [this, task](const tbb::flow::continue_msg& /*none*/) {
      error_.guard([&] { outputs_->execute(load_, task); });
    });
    const auto inputs = graph.inputs(task.step, task.point);
    auto& of = nodes_[static_cast<std::size_t>(task.graph)];
    for (const int point : inputs)
      tbb::flow::make_edge(*of[static_cast<std::size_t>(point)][static_cast<std::size_t>(task.step - 1)],
                           node);
    if (inputs.empty()) first_.push_back(&node);
    auto& column = of[static_cast<std::size_t>(task.point)];
    column.resize(static_cast<std::size_t>(task.step + 1));
    column.back() = &node;
  }

  const Load& load_;
  FirstError& error_;
  std::optional<Outputs> outputs_;
  tbb::flow::graph flow_;
  std::deque<Node> all_;
  std::vector<std::vector<std::vector<Node*>>> nodes_;  ///< of each graph by point and step
  std::vector<Node*> first_;
};

}  // namespace

double run_tbb(const Team& team, const Load& load) {
  const auto workers = static_cast<std::size_t>(team.workers);
  static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
  FirstError error;
  double seconds = 0;
  tbb::task_arena arena(team.workers);
  arena.execute([&] {
    FlowGraph graph(load, error);
    const double start_s = monotonic_s();
    graph.run();
    seconds = monotonic_s() - start_s;
  });
  error.rethrow();
  return seconds;
}

}  // namespace tailrace::bench
