// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/host.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "base/available_memory.hpp"
#include "base/system.hpp"
#include "output/planner/control_group.hpp"

namespace tailrace::output {

namespace {

/// Of what the kernel calls available, without what the control groups withhold.
std::int64_t memory_free_bytes(const ControlGroups& groups) {
  const auto available = available_memory_bytes().value_or(0);
  const auto left = groups.memory_free_bytes();
  return left ? std::min(available, *left) : available;
}

/// Returns what may wait in memory for the device: a number, or a share of the memory that is free, that of
/// the control group included, whose writers wait at the same share of its own.
std::int64_t dirty_limit_bytes(std::int64_t memory_bytes) {
  const auto bytes = number_in("/proc/sys/vm/dirty_bytes"), percent = number_in("/proc/sys/vm/dirty_ratio");
  if (bytes && *bytes > 0) return static_cast<std::int64_t>(*bytes);
  return percent ? static_cast<std::int64_t>(*percent / 100 * static_cast<double>(memory_bytes)) : 0;
}

/// The ranks of one node.
struct NodeFacts {
  int ranks = 0, threads = 0, free_cores = 0;
  double quota_cores = 0;
  std::int64_t memory_free_bytes = 0, dirty_limit_bytes = 0;

  void add(const Host& host) {
    ++ranks;
    threads += host.threads;
    free_cores = std::max(free_cores, host.free_cores);
    quota_cores = host.quota_cores;
    // Who came first saw more of what is free.
    memory_free_bytes =
        ranks == 1 ? host.memory_free_bytes : std::min(memory_free_bytes, host.memory_free_bytes);
    dirty_limit_bytes = host.dirty_limit_bytes;
  }
  /// Of these, as many as there is processor time for.
  [[nodiscard]] int usable_free_cores() const {
    if (quota_cores <= 0) return free_cores;
    return std::clamp(static_cast<int>(std::floor(quota_cores)) - threads, 0, free_cores);
  }
};

}  // namespace

Host this_host() {
  Host host;
  host.name = host_name();
  const ControlGroups groups;
  host.quota_cores = groups.cores().value_or(0);
  host.threads = omp_get_max_threads();
  host.memory_free_bytes = memory_free_bytes(groups);
  host.dirty_limit_bytes = dirty_limit_bytes(host.memory_free_bytes);
  return host;
}

std::string to_text(const Host& host) {
  return fmt::format("{} {} {} {} {} {} {}", host.name, host.quota_cores, host.threads, host.free_cores,
                     host.memory_free_bytes, host.dirty_limit_bytes, host.spawn_slots);
}

Host host_from(const std::string& text) {
  std::istringstream in(text);
  Host host;
  in >> host.name >> host.quota_cores >> host.threads >> host.free_cores >> host.memory_free_bytes >>
      host.dirty_limit_bytes >> host.spawn_slots;
  return host;
}

Machine machine_of(const std::vector<Host>& ranks) {
  std::map<std::string, NodeFacts> nodes;
  for (const auto& host : ranks) nodes[host.name].add(host);
  Machine machine;
  machine.ranks = static_cast<int>(ranks.size());
  machine.nodes = static_cast<int>(nodes.size());
  const auto& fullest = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
                          return a.second.ranks < b.second.ranks;
                        })->second;
  machine.ranks_per_node = fullest.ranks;
  machine.threads_per_rank = std::max(1, fullest.threads / fullest.ranks);
  machine.free_cores = fullest.usable_free_cores();
  machine.memory_free_bytes = fullest.memory_free_bytes;
  machine.dirty_limit_bytes = fullest.dirty_limit_bytes;
  machine.spawn_slots = ranks.front().spawn_slots;
  if (machine.spawn_slots > 0) machine.spawning = Spawning::works;
  return machine;
}

}  // namespace tailrace::output
