// SPDX-License-Identifier: BSD-3-Clause
#include "base/placement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

namespace tailrace {

namespace {

/// Fills a machine, thread by thread.
class Filling {
 public:
  Filling(const Topology& machine, std::span<const Process> processes)
      : cores_(machine.cores),
        processes_(processes),
        homes_(processes.size()),
        thread_placements_(processes.size()) {
    for (std::size_t core = 0; core < cores_.size(); ++core)
      for (const int cpu : cores_[core].cpus) core_of_[cpu] = core;
  }

  Placement run() {
    place_computing();
    Placement placement;
    placement.free_cores = count_free();
    place_writers();
    placement.of_process = std::move(thread_placements_);
    return placement;
  }

 private:
  struct Thread {
    std::size_t process;
    const Cpus* cpus;
  };

  /// Gives every computing thread the processor that it probably runs on. Those that have little choice come
  /// first.
  void place_computing() {
    std::vector<Thread> threads;
    for (std::size_t i = 0; i < processes_.size(); ++i)
      for (const auto& cpus : processes_[i].threads) {
        threads.push_back({i, &cpus});
        thread_placements_[i].computing = united(thread_placements_[i].computing, cpus);
      }
    std::stable_sort(threads.begin(), threads.end(),
                     [](const Thread& a, const Thread& b) { return a.cpus->size() < b.cpus->size(); });
    for (const auto& thread : threads)
      if (const auto cpu = idlest(*thread.cpus)) {
        ++busy_[*cpu];
        homes_[thread.process].push_back(core_of_.at(*cpu));
      }
  }

  [[nodiscard]] int threads_on(int cpu) const {
    const auto found = busy_.find(cpu);
    return found != busy_.end() ? found->second : 0;
  }
  [[nodiscard]] int threads_on(const Core& core) const {
    return std::accumulate(core.cpus.begin(), core.cpus.end(), 0,
                           [this](int sum, int cpu) { return sum + threads_on(cpu); });
  }

  /// Of these the first of a free core, else the first that is free, else the one with the fewest threads.
  [[nodiscard]] std::optional<int> idlest(const Cpus& cpus) const {
    std::optional<int> best;
    std::array<int, 2> least{};
    for (const int cpu : cpus) {
      const auto core = core_of_.find(cpu);
      if (core == core_of_.end()) continue;  // not a processor that hwloc shows us
      const std::array<int, 2> load{threads_on(cpu), threads_on(cores_[core->second])};
      if (best && load >= least) continue;
      best = cpu;
      least = load;
    }
    return best;
  }

  [[nodiscard]] int count_free() const {
    Cpus usable;
    for (const auto& process : processes_) usable = united(usable, process.allowed);
    return static_cast<int>(std::count_if(cores_.begin(), cores_.end(), [&](const Core& core) {
      return threads_on(core) == 0 && !common(core.cpus, usable).empty();
    }));
  }

  /// Everybody gets a good place before anybody gets a worse one.
  void place_writers() {
    std::vector<int> left;
    for (const auto& process : processes_) left.push_back(process.writers);
    for (const auto kind : {WriterPlace::core, WriterPlace::hardware_thread, WriterPlace::far_core})
      for (bool found = true; found;) {
        found = false;
        for (std::size_t i = 0; i < processes_.size(); ++i) {
          if (left[i] == 0) continue;
          const auto cpus = find(kind, i);
          if (cpus.empty()) continue;
          found = true;
          --left[i];
          give(i, kind, cpus);
        }
      }
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (left[i] > 0)
        give(i, WriterPlace::shared,
             processes_[i].threads.empty() ? processes_[i].bound : thread_placements_[i].computing);
  }

  void give(std::size_t process, WriterPlace kind, const Cpus& cpus) {
    thread_placements_[process].writing = united(thread_placements_[process].writing, cpus);
    thread_placements_[process].place = std::max(thread_placements_[process].place, kind);
    if (kind == WriterPlace::shared) return;
    for (const int cpu : cpus) ++busy_[cpu];
  }

  [[nodiscard]] Cpus find(WriterPlace kind, std::size_t process) const {
    if (kind == WriterPlace::hardware_thread) return free_hardware_thread(process);
    return free_core(process, kind == WriterPlace::core);
  }

  /// A free core, near or anywhere; one that the launcher has given to the process before others.
  [[nodiscard]] Cpus free_core(std::size_t process, bool near) const {
    Cpus found;
    for (const auto& core : cores_) {
      const auto cpus = common(core.cpus, processes_[process].allowed);
      if (cpus.empty() || threads_on(core) > 0 || (near && !is_near(process, core))) continue;
      if (!common(cpus, processes_[process].bound).empty()) return cpus;
      if (found.empty()) found = cpus;
    }
    return found;
  }

  [[nodiscard]] bool is_near(std::size_t process, const Core& core) const {
    const auto& homes = homes_[process];
    return homes.empty() || std::any_of(homes.begin(), homes.end(),
                                        [&](std::size_t home) { return cores_[home].numa == core.numa; });
  }

  [[nodiscard]] Cpus free_hardware_thread(std::size_t process) const {
    for (const auto home : homes_[process])
      for (const int cpu : common(cores_[home].cpus, processes_[process].allowed))
        if (threads_on(cpu) == 0) return {cpu};
    return {};
  }

  const std::vector<Core>& cores_;
  std::span<const Process> processes_;
  std::map<int, std::size_t> core_of_;           ///< refers to each processor
  std::map<int, int> busy_;                      ///< threads on each processor
  std::vector<std::vector<std::size_t>> homes_;  ///< refers to each process the cores that it computes on
  std::vector<ThreadPlacement> thread_placements_;
};

}  // namespace

std::string to_text(WriterPlace place) {
  switch (place) {
    case WriterPlace::none:
      return "no writer";
    case WriterPlace::core:
      return "a free core";
    case WriterPlace::hardware_thread:
      return "an unused hardware thread of an own core";
    case WriterPlace::far_core:
      return "a free core of another NUMA domain";
    case WriterPlace::shared:
      return "shared with the computation: no core or hardware thread is free";
    case WriterPlace::unbound:
      break;
  }
  return "not bound";
}

Placement place(const Topology& machine, std::span<const Process> processes) {
  return Filling(machine, processes).run();
}

}  // namespace tailrace
