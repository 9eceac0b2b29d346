// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/spawn.hpp"
#include "output/strategies/server_connection.hpp"

namespace tailrace::output {

/// Processes that were started to write for the ranks of a communicator.
class SpawnedWriters {
 public:
  SpawnedWriters(mpi::Spawned processes, int compute_ranks);

  [[nodiscard]] mpi::CommView all() const noexcept { return processes_.all(); }
  [[nodiscard]] Connection& connection() const noexcept { return *connection_; }
  /// Lets them go. @collective{the ranks that compute}
  void dismiss();

 private:
  mpi::Spawned processes_;
  std::unique_ptr<Connection> connection_;
};

/// Describes what came of starting processes.
struct SpawnResult {
  std::vector<SpawnedWriters> writers;  ///< groups, each with a communicator of its own
  std::string refusal;                  ///< why there are none; the same on all ranks
};

/// Starts `writers` processes of the program tailrace-writer as one group and waits until they are there;
/// with `bind` they go to processors on which nobody computes. @collective{comm}, synchronises.
SpawnResult spawn_together(mpi::CommView comm, int writers, bool bind);
/// The same, one after the other, each as a group of its own: all or none.
SpawnResult spawn_one_by_one(mpi::CommView comm, int writers, bool bind);

/// The program that is started: what TAILRACE_WRITER names, or tailrace-writer beside this executable or
/// where it was installed. Empty if none of them can be executed; `looked_at` says where it was looked for.
/// @local
std::string find_writer_program(std::string& looked_at);

}  // namespace tailrace::output
