#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tailrace/base/error.hpp"
#include "tailrace/output/options.hpp"
#include "tailrace/output/sink.hpp"
#include "tailrace/output/staging.hpp"
#include "tailrace/trace/trace.hpp"

namespace tailrace::output {

/// Counters of this rank's output, for run.json.
struct Account {
  double wait_s = 0;       ///< the computation stood still for output
  double write_s = 0;      ///< in writing, wherever it ran
  double write_cpu_s = 0;  ///< CPU time of the writing
  std::int64_t bytes = 0, writes = 0, waits = 0;
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
  /// Hands a filled buffer over; jobs are written in the order of submission. After a failure they are
  /// dropped. @local
  virtual void submit(Lease job) = 0;
  /// True if a job that is submitted now would be written at once. @local
  [[nodiscard]] virtual bool idle() const = 0;
  /// Waits until everything that was submitted is written or dropped. @local
  virtual void drain() = 0;

  /// The first failure of a write, if any. @local
  [[nodiscard]] virtual std::optional<ErrorInfo> failure() const = 0;
  /// Counters of the writing; to be read after `drain`.
  [[nodiscard]] virtual const Account& account() const noexcept = 0;
  /// The writer's own log, null if it writes on the simulation's thread. To be read after `drain`.
  [[nodiscard]] virtual const trace::Log* log() const noexcept = 0;
};

/// All that a strategy needs.
struct WriterContext {
  Sink& sink;
  std::int64_t staging_bytes;
  const Options& options;
  trace::Log& log;  ///< of the simulation's thread
};

/// Starts the writer of the strategy that the options name. @local
std::unique_ptr<Writer> create_writer(const WriterContext& context);

/// Writes one job: its slices, put into the order of their places in the file, the record, the flush. Adds
/// the cost to `account` and a span to `log`, also when it throws. @local
void run_job(Staging& job, Sink& sink, Account& account, trace::Log& log);

}  // namespace tailrace::output
