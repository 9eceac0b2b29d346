// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "output/core/writer.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/write_options.hpp"
#include "trace/recorder.hpp"

namespace tailrace::output {

class Connection;

/// The strategy in place of `spawn` and `spawn-each` where no process can be started.
inline constexpr const char* spawn_fallback = "threads";

/// Describes what a process has to say that writes for others.
struct WriterAccount {
  int process = 0;  ///< its number; compute ranks come first
  std::string host;
  std::string cpus;          ///< says where it runs
  std::string place;         ///< says what that is: `to_text(WriterPlace)`
  Account output;            ///< refers to its writing
  double idle_s = 0;         ///< the process had nothing to do but look for messages
  double idle_cpu_s = 0;     ///< processor time that it spent in that
  std::int64_t jobs = 0;     ///< that it took in
  std::int64_t batches = 0;  ///< in which it wrote them
  std::int64_t peak_memory_bytes = 0;
  std::string warning;  ///< such as a trace that could not be written
};

/// The processes of a job and their trades: some compute, others write for them. With the strategy `ranks`
/// the last ranks of the job write, with `spawn` and `spawn-each` processes that are started for it, with any
/// other all ranks compute and there are no I/O servers. Made once, early in a program:
///
///     output::IoServers io_servers(world, options, output::create_sink);
///     if (!io_servers.computes()) return io_servers.serve();
///     services.io_servers = &io_servers;
///     ... everything else happens on io_servers.compute_comm() ...
class IoServers {
 public:
  /// @collective{world}, synchronises. Errors (usage), the same on all ranks: too few ranks for the writers.
  IoServers(mpi::CommView world, const WriteOptions& options, SinkFactory create_sink);
  /// Lets the writers go. After the last session; @collective{world}
  ~IoServers();
  IoServers(const IoServers&) = delete;
  IoServers& operator=(const IoServers&) = delete;

  /// Returns whether this process has a part in the simulation. @local
  [[nodiscard]] bool computes() const noexcept;
  /// The ranks that compute; on them only. @local
  [[nodiscard]] mpi::CommView compute_comm() const noexcept;
  /// The life of a writer, until the ranks that it serves have let it go; signals that ask a run to stop are
  /// for those. Returns the exit status of the process. On ranks that do not compute.
  int serve();

  /// Starts the processes that the strategy of the options wants, on the first call. Returns whether there
  /// are any. @collective{compute_comm}, synchronises.
  bool start_servers(const WriteOptions& options, bool in_turns);
  /// Why no process could be started for `start_servers`; empty if there was no need to. The same on all
  /// ranks. @local
  [[nodiscard]] const std::string& refusal() const noexcept;
  /// The ways to the writers of this rank under a strategy: one, with `spawn-each` one to each of those who
  /// take turns; none if nobody writes for it. @local
  [[nodiscard]] std::vector<Connection*> connections(const std::string& strategy) const;
  /// Has all writers there are trace what they do in DIR/trace, beside the ranks. `clock` is that of this
  /// process, `zero_s` the common zero by it. On the first compute rank. @local, waits for answers.
  void begin_traces(const std::string& directory, trace::Mode mode, const trace::Clock& clock, double zero_s);
  /// Ends the traces of all writers there are and asks for their accounts. On the first compute rank, when
  /// all sessions are finished. @local, waits for answers.
  [[nodiscard]] std::vector<WriterAccount> report();

 private:
  [[nodiscard]] std::vector<Connection*> all_connections() const;

  struct State;
  std::unique_ptr<State> state_;
};

/// Of so many ranks, those that compute under the strategy of the options. @local. Errors (usage): there are
/// too few ranks for the writers.
int ranks_that_compute(int ranks, const WriteOptions& options);

/// The life of a process that I/O servers have started: all that the program tailrace-writer does.
int serve_as_spawned(mpi::CommView world, SinkFactory create_sink);

}  // namespace tailrace::output
