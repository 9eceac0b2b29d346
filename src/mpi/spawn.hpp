// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// Processes that others started, together with those: one communicator of both.
class Spawned {
 public:
  Spawned() = default;
  /// Starts `count` processes of a program in this process's directory; they come last in `all`. Empty if MPI
  /// refuses: `refusal` then says why, on all ranks. If they have not joined within TAILRACE_START_LIMIT (120
  /// s), the job ends with exit status 3; `otherwise` is what its message advises. @collective{comm},
  /// synchronises. Errors (usage): that limit is no number of seconds.
  static Spawned start(CommView comm, const std::string& program, int count, const std::string& otherwise,
                       std::string& refusal);
  /// The other side: this process and those that started it; empty if nobody did.
  /// @collective{the processes that were started together}
  static Spawned by_parent();

  Spawned(Spawned&& other) noexcept
      : bridge_(std::exchange(other.bridge_, CommHandle{})), all_(std::move(other.all_)) {}
  Spawned& operator=(Spawned&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] CommView all() const noexcept { return all_; }
  /// Parts the two sides. @collective{all}
  void disconnect();

 private:
  /// Takes over the communicator between the two sides.
  Spawned(CommHandle bridge, bool is_started);

  CommHandle bridge_;
  Comm all_;
};

/// Returns whether Open MPI's launcher may put more processes on a node than it has places, as far as the
/// environment says. @local
bool may_oversubscribe();

/// Why MPI's launcher would not start so many processes more, and would never end the job if it were asked;
/// empty if it may be asked. @local
std::string refusal_of_launcher(int count);

}  // namespace tailrace::mpi
