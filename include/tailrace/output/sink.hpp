#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/file_content.hpp"
#include "tailrace/output/options.hpp"
#include "tailrace/output/plan.hpp"

namespace tailrace::output {

/// Bytes on their way to one stretch of one dataset. They belong to a staging buffer.
struct Extent {
  std::size_t dataset = 0;
  std::int64_t offset_bytes = 0;  ///< in the dataset
  std::span<const std::byte> bytes;
};

/// What a call has put into the file.
struct Written {
  std::int64_t bytes = 0, operations = 0;
};

/// Seconds for which ranks wait at the end for the slowest of them to drain its writer and flush its data: a
/// slow device is no failure, and a rank that dies ends the job by itself.
inline constexpr double close_limit_s = 3600;

/// What a sink moves between ranks while the run goes on. All functions are called by the simulation's
/// thread.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Moves what can be moved now; a thread that waits for output calls it again and again. @local, does not
  /// wait. Errors: MPI's own.
  virtual void progress() = 0;
  /// As `progress`; false as long as the simulation must not go beyond `step`: this rank still has samples
  /// that must leave, or others have some that it must take in, before all can go on. It makes sure that no
  /// rank waits for another one inside a step. To be called for each step. @local, does not wait.
  virtual bool keeps_up(StepIndex step) = 0;
  /// Moves all parts up to the record that was submitted last, also while writers of other ranks still wait
  /// for room, and whatever has failed. @collective{comm} of the sink, waits.
  virtual void settle() = 0;
  /// After `settle`: puts what was moved onto the device. Returns the step up to which all samples are in the
  /// file: chunks that take more samples may be missing. @collective{comm} of the sink, synchronises; every
  /// rank throws the same error or none.
  virtual StepIndex commit() = 0;
  /// Moves and writes everything that is left, once this rank's writer has drained or failed.
  /// @collective{comm} of the sink, waits. Errors (io): the sink's own failures, on the ranks that see them.
  virtual void complete() = 0;
  /// Ends the exchange without the other ranks: nothing is moved any more, and no writer waits for it. @local
  virtual void abandon() noexcept = 0;

  /// Seconds that threads of the sink have spent in writing, and of these those of the processor. After
  /// `complete`.
  [[nodiscard]] virtual double write_s() const noexcept = 0;
  [[nodiscard]] virtual double write_cpu_s() const noexcept = 0;
};

/// A file format that takes samples. It is created and closed by all ranks together; in between each rank's
/// writer calls it a few times per sample, alone, from one thread at a time, and it must not communicate
/// then.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Puts the extents, which ascend by dataset and offset, into the file. @local. Errors (io): path, offset
  /// and reason.
  virtual Written write(std::span<const Extent> extents, StepIndex step) = 0;
  /// Notes that the samples of this rank are in the file up to and with `steps`. @local
  virtual void record(StepIndex steps) = 0;
  /// Puts everything that this rank has written onto the device. @local
  virtual void flush() = 0;
  /// After all ranks have flushed what they took up to step `steps`: makes it readable in the file for any
  /// process. Nothing by default: what is flushed into a plain file can be read.
  /// @collective{comm}, synchronises; every rank throws the same error or none.
  virtual void publish(mpi::CommView, StepIndex) {}
  /// Ends this rank's part, then the root writes the tail (after a failure its texts only) and flushes the
  /// file.
  /// @collective{comm}, synchronises; every rank throws the same error or none.
  virtual void close(mpi::CommView comm, const FileTail& tail, bool complete) = 0;

  /// What it moves between ranks, null if every rank writes for itself.
  [[nodiscard]] virtual Exchange* exchange() noexcept { return nullptr; }
  /// Bytes that it takes on this rank beside the staging buffers.
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept { return 0; }
  /// What the user should know before the run starts, such as a disk that is too small. On the root only.
  [[nodiscard]] virtual const std::string& warning() const noexcept = 0;
};

/// All that the creation of a file needs.
struct SinkContext {
  mpi::CommView comm;
  const std::string& path;
  const Plan& plan;  ///< outlives the sink
  const FileHead& head;
  const Options& options;
  StepIndex resume_after = 0;  ///< the file holds the samples up to this step: open it instead of creating it
};

/// Creates the file of the sink that the options name. @collective{context.comm}, synchronises; every rank
/// throws the same error or none.
std::unique_ptr<Sink> create_sink(const SinkContext& context);

}  // namespace tailrace::output
