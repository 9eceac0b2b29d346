// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "fragments/machine.hpp"

namespace tailrace::fragments {

/// A fragment on this rank, and what is known of it.
struct Task {
  Fragment fragment;
  std::unique_ptr<Resolution> resolution;  ///< while it is looked at, is ready or runs; not while it waits
  std::uint32_t number = 0;                ///< by which answers name it
  std::uint64_t order = 0;                 ///< of those that have waited
  std::size_t awaited = 0;                 ///< inputs that it waits for
  bool placed = false;                     ///< it stays on this rank
  double since_s = 0;                      ///< of a recording: when it began to wait, or was ready

  /// Whether the first output is known before the inputs are here: then these need not come to this rank.
  [[nodiscard]] bool output_known() const {
    return fragment.runs_body() && fragment.statement->rules.rank.empty() &&
           !fragment.statement->placed_by_label &&
           std::ranges::any_of(resolution->arguments,
                               [](const Slot& slot) { return std::holds_alternative<Name>(slot); });
  }

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
      spare_.back()->number = static_cast<std::uint32_t>(all_.size() - 1);
    }
    Task& task = *spare_.back();
    spare_.pop_back();
    task.set(std::move(fragment)), task.placed = placed, task.since_s = 0;
    return task;
  }
  /// Has a fragment leave this rank, or end.
  void end(Task& task) {
    task.set({}), forget(task);
    spare_.push_back(&task);
  }
  /// Memory for what a fragment needs.
  Resolution& resolution_of(Task& task) {
    if (task.resolution == nullptr && !resolutions_.empty())
      task.resolution = std::move(resolutions_.back()), resolutions_.pop_back();
    if (task.resolution == nullptr) task.resolution = std::make_unique<Resolution>();
    return *task.resolution;
  }
  /// Forgets what a fragment needs. The memory serves the next one.
  void forget(Task& task) {
    if (task.resolution == nullptr) return;
    task.resolution->clear();
    resolutions_.push_back(std::move(task.resolution));
  }
  [[nodiscard]] Task& at(std::uint32_t number) { return all_.at(number); }
  /// Whether a fragment waits for a name.
  [[nodiscard]] bool waits(std::uint32_t number, const Id& name) const {
    return std::ranges::any_of(all_[number].fragment.inputs, [&](const Input& input) {
      return input.name.id == name && !input.value.is_set();
    });
  }
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
  std::vector<std::unique_ptr<Resolution>> resolutions_;  ///< spare ones
};

}  // namespace tailrace::fragments
