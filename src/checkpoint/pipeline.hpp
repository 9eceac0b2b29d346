// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/save.hpp"
#include "output/core/services.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/checkpoint_options.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::checkpoint {

/// Checkpoints on their way from memory to their names in the directory of the run, asynchronously and in
/// stages, one after the other. With one level a checkpoint goes straight into the directory; with two it is
/// first written to the nodes' own devices, where it counts already, and the parts of one after the other go
/// from there into the directory.
///
///     pipeline->take(origin, state);
///     while (pipeline->is_pending())          // as soon as no rank would wait: `ready` on all of them
///       pipeline->advance(secure_samples);
///     pipeline->clear();                      // at the end of the run
class Pipeline {
 public:
  /// What a stage has brought about.
  struct Progress {
    std::optional<std::int64_t>
        safe_bytes;      ///< one more counts: the run can resume from these bytes of the rank
    bool named = false;  ///< one more has its name in the directory
  };

  virtual ~Pipeline() = default;

  /// Takes the state, which is all that the computation waits for; not while it `is_busy`. @collective{comm},
  /// synchronises. Every rank throws the same error or none.
  virtual void take(const Origin& origin, const StateFunction& state) = 0;
  /// Returns whether a checkpoint is on its way. The same on all ranks.
  [[nodiscard]] virtual bool is_pending() const noexcept = 0;
  /// Returns whether one is on its way that must advance before another is taken. The same on all ranks.
  [[nodiscard]] virtual bool is_busy() const noexcept = 0;
  /// Returns whether the next stage needs the samples that were taken before the state on the device. The
  /// same on all ranks.
  [[nodiscard]] virtual bool needs_samples() const noexcept = 0;
  /// Lets what is on its way continue; true once `advance` will not wait for this rank. @local
  [[nodiscard]] virtual bool ready() = 0;
  /// Ends the stage that one is in, after `secure_samples` if the stage needs that. @collective{comm},
  /// synchronises. Every rank throws the same error or none; the checkpoint is given up then.
  virtual Progress advance(const std::function<void()>& secure_samples) = 0;
  /// The newest one is to have its name in the directory, whatever else it goes by. The same on all ranks.
  /// @local
  virtual void want_name() noexcept = 0;
  /// At the end, when nobody will resume from what is on the nodes: removes it. @collective{comm}
  virtual void clear() = 0;
};

/// Describes where checkpoints go, and how.
struct PipelineContext {
  std::string directory;
  LocalLevel local;
  Packing packing = {};
  output::WriteOptions write;
  output::SessionServices services = {};
  std::function<void()> after_naming = {};  ///< on rank 0, asynchronously: one has its name
};
/// Forgets what earlier segments left on the nodes. @collective{comm}, synchronises. Every rank throws the
/// same error or none. `log` outlives it.
std::unique_ptr<Pipeline> create_pipeline(mpi::CommView comm, PipelineContext context, trace::Log& log);

/// Of a pipeline of this state. @collective{comm}
SavingMemory memory_of_pipeline(mpi::CommView comm, const StateFunction& state, const Packing& packing,
                                const LocalLevel& local);

}  // namespace tailrace::checkpoint
