// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "fragments/machine.hpp"

namespace tailrace::fragments {

/// A fragment on this rank, and what is known of it.
struct Task {
  Fragment fragment;
  Resolution resolution;
  std::uint64_t number = 0;  ///< by which answers name it
  std::uint64_t order = 0;   ///< of those that have waited
  std::size_t awaited = 0;   ///< inputs that it waits for
  bool placed = false;       ///< it stays on this rank
  double since_s = 0;        ///< of a recording: when it began to wait, or was ready

  /// Takes another fragment. The memory for inputs stays.
  void set(Fragment other) {
    auto inputs = std::move(fragment.inputs);
    fragment = std::move(other);
    if (!fragment.inputs.empty()) return;
    inputs.clear();
    fragment.inputs = std::move(inputs);
  }
};

/// Takes the first of a queue that is not empty.
template <class T>
T taken(std::deque<T>& queue) {
  T first = std::move(queue.front());
  queue.pop_front();
  return first;
}

/// The fragments of a rank. The memory of those that have ended serves the next ones.
class Tasks {
 public:
  Task& add(Fragment fragment, bool placed) {
    if (spare_.empty()) {
      spare_.push_back(&all_.emplace_back());
      spare_.back()->number = all_.size() - 1;
    }
    Task& task = *spare_.back();
    spare_.pop_back();
    task.set(std::move(fragment)), task.placed = placed, task.since_s = 0;
    return task;
  }
  /// Has a fragment leave this rank, or end.
  void end(Task& task) {
    task.set({}), task.resolution.clear();
    spare_.push_back(&task);
  }
  [[nodiscard]] Task& at(std::uint64_t number) { return all_.at(number); }
  /// Those that wait, in the order in which they began to.
  [[nodiscard]] std::vector<const Task*> waiting() const {
    std::vector<const Task*> tasks;
    for (const auto& task : all_)
      if (task.awaited > 0) tasks.push_back(&task);
    std::ranges::sort(tasks, {}, [](const Task* task) { return task->order; });
    return tasks;
  }

 private:
  std::deque<Task> all_;  ///< at fixed addresses
  std::vector<Task*> spare_;
};

}  // namespace tailrace::fragments
