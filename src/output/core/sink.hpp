// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/topology.hpp"
#include "output/core/meter.hpp"
#include "output/core/plan.hpp"
#include "output/core/raw_file.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Bytes on their way to one extent of one dataset. They belong to a staging buffer.
struct Extent {
  std::size_t dataset = 0;
  std::int64_t offset_bytes = 0;  ///< in the dataset
  std::span<const std::byte> bytes;
};

/// Describes what a call has put into the file.
struct Written {
  std::int64_t bytes = 0, operations = 0;
};

/// Describes what a file holds when it is closed.
struct FileEnd {
  StepIndex steps = 0;   ///< its samples are those up to this step, if it is complete
  bool complete = true;  ///< nothing has failed
};

/// Seconds for which ranks wait at the end for the slowest of them to flush its writer and flush its data: a
/// slow device is no failure, and a rank that dies ends the job by itself.
inline constexpr double close_limit_s = 3600;

/// Describes what a sink moves between ranks while the run continues. All functions are called by the
/// simulation's thread.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Moves what can be moved now; a thread that waits for output calls it again and again. @local, does not
  /// wait. Errors: MPI's own.
  virtual void progress() = 0;
  /// As `progress`; false as long as the simulation must not go beyond `step`: this rank still has samples
  /// that must leave, or others have some that it must take in, before all can continue. It makes sure that
  /// no rank waits for another one inside a step. To be called for each step. @local, does not wait.
  virtual bool keeps_up(StepIndex step) = 0;
  /// Moves all parts up to the commit mark that was submitted last, also while writers of other ranks still
  /// wait for room, and whatever has failed. @collective{comm} of the sink, waits.
  virtual void finalize() = 0;
  /// After `finalize`: puts what was moved onto the device. Returns the step up to which all samples are in
  /// the file. @collective{comm} of the sink, synchronises; every rank throws the same error or none.
  virtual StepIndex commit() = 0;
  /// Moves and writes everything that is left, once this rank's writer has flushed or failed.
  /// @collective{comm} of the sink, waits. Errors (io): the sink's own failures, on the ranks that see them.
  virtual void complete() = 0;
  /// Informs the other ranks that no more samples come from this one. @local
  virtual void fail() noexcept = 0;
  /// Ends the exchange without the other ranks: nothing is moved any more, and no writer waits for it. @local
  virtual void abandon() noexcept = 0;

  /// Seconds that threads of the sink have spent in writing, and of these those of the processor. After
  /// `complete`.
  [[nodiscard]] virtual double write_s() const noexcept = 0;
  [[nodiscard]] virtual double write_cpu_s() const noexcept = 0;
};

/// Describes where samples and records lie in plain files, for a strategy that writes them by itself.
class PlacedFiles {
 public:
  virtual ~PlacedFiles() = default;

  /// Bytes from `offset` on in one of the files.
  struct Place {
    std::size_t file = 0;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;  ///< that belong there; what follows them has another place
  };
  /// The files, open for writing; they last as long as the sink.
  virtual std::vector<RawFile*> files() = 0;
  /// Returns where a dataset continues from one of its bytes.
  [[nodiscard]] virtual Place place(std::size_t dataset, std::int64_t offset_bytes) const = 0;
  /// Slots of 8 bytes, one after the other.
  struct Slots {
    Place first;
    std::int64_t count = 0;
  };
  /// The slots of the commit mark that represent a source, none if the commit mark stays unchanged.
  [[nodiscard]] virtual Slots commit_mark(int source) const = 0;
  /// They have got this value.
  virtual void mark_recorded(int source, StepIndex steps) = 0;
};

/// A file format that takes samples. It is created and closed by all ranks together; in between each rank's
/// writer calls it a few times per sample, alone, from one thread at a time, and it must not communicate
/// then unless it is `collective`.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Puts the extents, which ascend by dataset and offset, into the file. @local. Errors (io): path, offset
  /// and reason.
  virtual Written write(std::span<const Extent> extents, StepIndex step) = 0;
  /// Puts records of this rank into sample number `sample` of a stream that takes them, behind those of
  /// earlier calls. Only of sinks whose traits say that they grow. @local. Errors (io).
  virtual Written append(std::size_t /*dataset*/, std::int64_t /*sample*/, std::span<const std::byte>,
                         StepIndex) {
    throw Error(ErrorKind::internal, "records for a sink that does not grow");
  }
  /// Marks that the samples of rank `source` are in the file up to and with `steps`. @local
  virtual void commit_mark(int source, StepIndex steps) = 0;
  /// Notes, before they are recorded, that samples of rank `source` after those recorded last are left out.
  /// @local
  virtual void mark_dropped(int /*source*/) {}
  /// Puts everything that this process has written onto the device. @local
  virtual void flush() = 0;
  /// Has what belongs into the file of a refused write go elsewhere. Returns false if there is no other place
  /// that might be better. @local, may wait for other processes that write. Errors (io).
  virtual bool fail_over(const RefusedWrite&, StepIndex) { return false; }
  /// After the last `write` of a job: whether readers look for its samples where they were put. If not they
  /// have to be written again. @local, as `fail_over`. Errors (io).
  virtual bool is_unchanged() { return true; }
  /// After the last `write` of a job, before its record. Nothing by default. @local
  virtual void finish_job(StepIndex) {}
  /// True if `finish_job`, `commit_mark` and `flush` are calls of all ranks together (@collective{comm},
  /// every rank throws the same error or none): all ranks must write the same number of jobs with the same
  /// records and flushes, in the same order, whether they have values or not.
  [[nodiscard]] virtual bool collective() const noexcept { return false; }
  /// After all ranks have flushed what they took up to step `steps`: makes it readable in the file for any
  /// process. Nothing by default: what is flushed into a plain file can be read.
  /// @collective{comm}, synchronises; every rank throws the same error or none.
  virtual void publish(mpi::CommView, StepIndex) {}
  /// Ends this rank's part, then the root writes the tail (after a failure its texts only) and flushes the
  /// file. @collective{comm}, synchronises; every rank throws the same error or none.
  virtual void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) = 0;

  /// Returns what it moves between ranks, null if every rank writes for itself.
  [[nodiscard]] virtual Exchange* exchange() noexcept { return nullptr; }
  /// Returns what this process's jobs have cost. Whoever writes them adds to it.
  [[nodiscard]] Meter& meter() noexcept { return meter_; }
  /// Returns where its samples go, null if they have no known places.
  [[nodiscard]] virtual PlacedFiles* placed() noexcept { return nullptr; }
  /// Bytes that it takes on this rank beside the staging buffers.
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept { return 0; }
  /// Returns what the user should know before the run starts, such as a disk that is too small. On the root
  /// only.
  [[nodiscard]] virtual const std::string& warning() const noexcept = 0;
  /// After `close`, what became of the run's samples that the user should know. On the root only.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

 private:
  Meter meter_;
};

/// All that the creation of a file needs.
struct SinkContext {
  mpi::CommView comm;
  const std::string& path;
  const Plan& plan;  ///< outlives the sink
  const FileHead& head;
  const WriteOptions& options;
  StepIndex resume_after = 0;  ///< the file holds the samples up to this step: open it instead of creating it
  int sources;                 ///< ranks whose samples come, unless `joins` the first ones of `comm`
  /// The file is and has been opened by those who will end it: this sink only writes samples, advances
  /// records and flushes, and its `close` takes no tail. Only of sinks whose traits say so.
  bool joins = false;
  int process = -1;       ///< number of this process in messages and for faults, if not its rank in `comm`
  Cpus writer_cpus = {};  ///< where a thread of the sink's own runs
  // What `create_sink` fills in of the strategy.
  bool splits_samples = false;  ///< each sample goes into a file of its own (docs/formats/snapshots.md)
  int buffers = 1;              ///< staging buffers of this rank
};

/// Creates the file of the sink that the options name: `create_sink`, as rooms below the registry know it.
using SinkFactory = std::unique_ptr<Sink> (*)(SinkContext context);

}  // namespace tailrace::output
