#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tailrace/checkpoint/archive.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/options.hpp"
#include "tailrace/trace/trace.hpp"

namespace tailrace::checkpoint {

/// Whose state is saved, and when.
struct Origin {
  std::string simulation;  ///< as in run.json
  std::string program;     ///< name and version
  StepIndex step = 0;
  double time_s = 0;
};

/// Memory that the buffers of a `Saving` of this state are going to take on this rank. @collective{comm}
std::int64_t buffer_memory_bytes(mpi::CommView comm, const StateFunction& state, std::int64_t buffer_bytes);

/// A checkpoint on its way to the disk, behind the computation.
///
/// The constructor takes the state, as far as the buffers go, and hands it to the writer; `finish` gives it
/// its name when every byte of every rank is on the device. Whatever fails before, nothing of that name
/// appears, and older checkpoints stay as they are.
class Saving {
 public:
  /// `options` say who writes; the number of buffers, the sink and the directories of streams are of no
  /// meaning here, and `auto` writes with threads. The buffers hold the state, or `buffer_bytes` of it on
  /// each rank, whichever is less; what does not fit is written before the constructor returns.
  /// @collective{comm}, synchronises. Every rank throws the same error or none. Memory: the buffers, a cell
  /// of records, 72 bytes for each MiB of fields and 32 for each cell of records.
  Saving(mpi::CommView comm, const std::string& directory, const Origin& origin, const StateFunction& state,
         const output::Options& options, std::int64_t buffer_bytes, trace::Log& log);
  /// One that was not finished leaves a partial directory behind.
  ~Saving();
  Saving(const Saving&) = delete;
  Saving& operator=(const Saving&) = delete;

  /// True once `finish` will not wait for this rank. @local
  [[nodiscard]] bool ready();
  /// Waits until all ranks have written, then gives the checkpoint its name. @collective{comm}, synchronises.
  /// Every rank throws the same error or none; on an error the partial directory is removed.
  void finish();

  [[nodiscard]] StepIndex step() const noexcept;
  /// Bytes of state on this rank. @local
  [[nodiscard]] std::int64_t bytes() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::checkpoint
