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
