// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "output/core/plan.hpp"
#include "output/core/services.hpp"
#include "output/core/sink.hpp"
#include "output/core/staging.hpp"
#include "output/core/write_state.hpp"
#include "tailrace/error.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Counters of this rank's output, for run.json.
struct Account {
  double wait_s = 0;       ///< the computation stalled for output
  double write_s = 0;      ///< in writing, wherever it ran
  double write_cpu_s = 0;  ///< CPU time of the writing
  std::int64_t bytes = 0, writes = 0, waits = 0;
  std::int64_t retries = 0, dropped_bytes = 0;  ///< refers to streams that do not stop when a write fails

  Account& operator+=(const Account& other) noexcept {
    wait_s += other.wait_s;
    write_s += other.write_s;
    write_cpu_s += other.write_cpu_s;
    bytes += other.bytes;
    writes += other.writes;
    waits += other.waits;
    retries += other.retries;
    dropped_bytes += other.dropped_bytes;
    return *this;
  }
};

/// A strategy: who writes, and how the data get there. All functions are called by the simulation's thread.
class Writer {
 public:
  /// Writes what was submitted, unless a write has failed, and ends. Never communicates.
  virtual ~Writer() = default;

  /// A free buffer, or nothing. @local
  virtual std::optional<Lease> try_acquire() = 0;
  /// A free buffer; waits until there is one. @local
  virtual Lease acquire() = 0;
  /// Moves what can be moved between processes; called in each step, and again and again by a thread that
  /// waits for anything. Nothing to do by default. @local, does not wait.
  virtual void progress() {}
  /// Hands a filled buffer over; jobs are written in the order of submission. After a failure they are
  /// dropped. @local
  virtual void submit(Lease job) = 0;
  /// Returns whether a job may hold samples of several steps, which makes larger writes of small samples.
  /// @local
  [[nodiscard]] virtual bool batches() const noexcept { return true; }
  /// True if a job that is submitted now would be written at once. @local
  [[nodiscard]] virtual bool idle() const = 0;
  /// Waits until everything that was submitted is written or dropped. @local
  virtual void flush_all() = 0;

  /// The first failure of a write, if any. @local
  [[nodiscard]] virtual std::optional<ErrorInfo> failure() const = 0;
  /// Counters of the writing; to be read after `flush_all` on all ranks.
  [[nodiscard]] virtual const Account& account() const noexcept = 0;
  /// Bytes that it takes on this rank beside the staging buffers and what `Plan::memory_bytes` knows of them.
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept { return 0; }
};

/// All that a strategy needs. Whatever is referred to outlives the writer.
struct WriterContext {
  mpi::CommView comm;  ///< the ranks of the session
  Sink& sink;
  std::span<const Share* const> shares;  ///< refers to this rank, by their numbers
  std::int64_t staging_bytes;
  std::size_t max_staged_extents;  ///< refers to a job
  const WriteOptions& options;
  const SessionServices& services;
  const Cpus& writer_cpus;  ///< where a thread of the writer's own runs
  Reached& reached;
  trace::Log& log;         ///< refers to the simulation's thread
  trace::Log& writer_log;  ///< refers to a thread of the writer's own
  std::string& warning;    ///< says what the user should know, such as why another strategy is in
  // For strategies whose writers open the file by themselves.
  std::string path = {};       ///< refers to the file
  const Plan* plan = nullptr;  ///< refers to this rank
  // What `create_writer` fills in of the strategy.
  int buffers = 1;              ///< staging buffers of this rank
  bool splits_samples = false;  ///< each sample goes into a file of its own
  std::string strategy = {};    ///< as it is given to `--write`
};

/// A job as whoever writes it sees it.
struct JobView {
  std::span<const StagedExtent> staged_extents;
  std::span<const StagedRows> rows = {};
  std::span<const std::byte> bytes;      ///< that the staged extents count their positions in
  std::span<const Share* const> shares;  ///< refers to the source, by their numbers
  int source = 0;                        ///< the rank whose samples they are
  StepIndex step = 0;                    ///< the last one that it holds samples of
  std::optional<StepIndex> commit_mark;  ///< to be marked in the file after all staged extents are written
  bool flush = false;                    ///< to be put onto the device after that
};

JobView view_of(const Staging& job, std::span<const Share* const> shares) noexcept;

/// Writes jobs, at least one, as if they were one: the staged extents of all in the order of their places in
/// the file, then the commit marks, then the flush. Adds the cost to `account` and a span to `log`, also when
/// it throws. Needs `write_bytes_per_staged_extent` of memory for each slice while it runs. @local
void run_jobs(std::span<const JobView> jobs, Sink& sink, Account& account, trace::Log& log);
inline constexpr std::size_t write_bytes_per_staged_extent = 64;

/// Writes one job of the rank that has these shares. @local
void run_job(const Staging& job, std::span<const Share* const> shares, Sink& sink, Account& account,
             trace::Log& log);

}  // namespace tailrace::output
