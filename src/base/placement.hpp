// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/topology.hpp"

/// Who runs where on a machine: pure values. Reasons in docs/explain/placement.md.
namespace tailrace {

/// A process of a job, on one machine with the others.
struct Process {
  std::vector<Cpus> threads;  ///< refers to each thread that computes: where it may run
  Cpus bound;                 ///< says where the launcher has put the process
  Cpus allowed;               ///< says where its writer threads may be put
  int writers = 0;            ///< its writer threads
};

/// Describes what a writer thread found, from the best to the worst.
enum class WriterPlace {
  none,             ///< there is no writer
  core,             ///< a core on which nobody computes, near to the memory of its process
  hardware_thread,  ///< one that nobody computes on, of a core of its own process
  far_core,         ///< a core on which nobody computes, of another NUMA domain
  shared,           ///< it runs wherever the computation of its process does
  unbound,          ///< nobody chose
};
/// For people, such as "a free core". @local
std::string to_text(WriterPlace place);

/// Describes where the threads of a process run.
struct ThreadPlacement {
  Cpus computing;
  Cpus writing;  ///< empty: no writer
  WriterPlace place = WriterPlace::none;

  friend bool operator==(const ThreadPlacement&, const ThreadPlacement&) = default;
};

struct Placement {
  std::vector<ThreadPlacement> of_process;  ///< one per process
  int free_cores = 0;                       ///< that the processes may use and on which none computes
};

/// Finds places for the writer threads of processes that compute where they are. Each writer gets a place of
/// its own as long as there are any; of several writers of a process, the worst place counts. @local
Placement place(const Topology& machine, std::span<const Process> processes);

}  // namespace tailrace
