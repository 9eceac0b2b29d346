// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "output/core/services.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/checkpoint_options.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::checkpoint {

/// Describes what a `Saving` takes on this rank.
struct SavingMemory {
  std::size_t buffers = 0;  ///< staging buffers, which may be made ready before
  std::size_t beside = 0;   ///< beyond these: with compression at most, as nobody knows what becomes smaller
};
/// Of a `Saving` of this state. @collective{comm}
SavingMemory memory_for(mpi::CommView comm, const StateFunction& state, const Packing& packing);

/// A checkpoint on its way to the disk, asynchronously.
///
/// The constructor takes the state, as far as the buffers go, and hands it to the writer; `finish` gives it
/// its name when every byte of every rank is on the device. Whatever fails before, nothing of that name
/// appears, and older checkpoints stay as they are.
class Saving {
 public:
  /// `options` say who writes, `services` in which memory; the number of buffers, the sink and the
  /// directories of streams are of no meaning here, and `auto` writes with threads. The buffers hold the
  /// state, or `buffer_bytes` of it on each rank, whichever is less; what does not fit is written before the
  /// constructor returns. With compression half of `buffer_bytes` keeps cells until their places are known;
  /// those that find no room there are compressed twice.
  /// @collective{comm}, synchronises. Every rank throws the same error or none. Memory: the buffers, a cell
  /// (with compression six, and what zstd needs), 72 to 96 bytes for each MiB of fields and 32 to 56 for each
  /// cell of rows.
  Saving(mpi::CommView comm, const std::string& directory, const Origin& origin, const StateFunction& state,
         const output::WriteOptions& options, const Packing& packing, trace::Log& log,
         const output::SessionServices& services = {});
  /// One that was not finished leaves a partial directory behind.
  ~Saving();
  Saving(const Saving&) = delete;
  Saving& operator=(const Saving&) = delete;

  /// True once neither `seal` nor `finish`, whichever is next, will wait for this rank. @local
  [[nodiscard]] bool ready();
  /// Waits until all ranks have written, and closes the file. Then rank 0 gives the checkpoint its name
  /// asynchronously, and calls `afterwards`. @collective{comm}, synchronises. Every rank throws the
  /// same error or none; on an error the partial directory is removed.
  void seal(const std::function<void()>& afterwards = {});
  [[nodiscard]] bool is_sealed() const noexcept;
  /// Seals it unless that was done, and waits until it has its name. @collective{comm}, synchronises. Errors
  /// as in `seal`, and what `afterwards` throws.
  void finish();

  [[nodiscard]] StepIndex step() const noexcept;
  /// Bytes of state on this rank. @local
  [[nodiscard]] std::int64_t bytes() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::checkpoint
