// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system.hpp"
#include "checkpoint/pipeline.hpp"
#include "checkpoint/schedule.hpp"
#include "output/core/staging.hpp"
#include "output/session/session.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/case_checkpoint.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::run {

/// Describes what checkpoints cost this rank so far.
struct CheckpointAccount {
  std::int64_t taken = 0, bytes = 0;  ///< bytes of this rank's state, in all of them
  double stalled_s = 0;               ///< the computation stalled, but for waiting for samples
  double pack_s = 0;                  ///< of that, copying the state: the log has it with that of samples
};

/// The checkpoints of a run: when they are taken, and how one that is on its way gets its name.
class Checkpointing {
 public:
  /// Describes where and of what; `session` is the output whose samples belong to the state.
  struct Context {
    std::string directory;
    std::string simulation, program;
    std::function<double(StepIndex)> time_s;  ///< refers to the state after a step
    output::WriteOptions write;
    output::SessionServices services;
    StepIndex from = 0;  ///< the run resumes from the checkpoint of this step, which is kept; 0: from none
    std::size_t buffer_memory = 0;  ///< for the buffers of checkpoints, in bytes; made ready now
  };
  /// @collective{comm}, synchronises. Every rank throws the same error or none.
  Checkpointing(mpi::CommView comm, const CheckpointOptions& options, Context context, trace::Log& log);
  Checkpointing(const Checkpointing&) = delete;
  Checkpointing& operator=(const Checkpointing&) = delete;

  /// Returns whether the clock, which is that of the root, makes one due. @local
  [[nodiscard]] bool wants() const noexcept;
  /// The first step after `step` for which the number of steps makes one due, if it decides. @local
  [[nodiscard]] std::optional<StepIndex> next_due(StepIndex step) const noexcept {
    return schedule_.next_by_steps(step);
  }
  /// Returns whether one that is on its way, or samples that have to be on the device before it, still wait
  /// for this rank. @local
  [[nodiscard]] bool waits(output::Session& session);

  /// After a step: helps the one on its way on if no rank waits for it any more (`none_waits`), on two levels
  /// first to the one, then to the other, and takes a new one if it is due by steps or asked for. The same on
  /// all ranks. @collective{comm}
  void after_step(StepIndex step, bool asked, bool none_waits, const checkpoint::StateFunction& state,
                  output::Session& session);
  /// When the run stops early: takes one, and waits until it is in the directory. @collective{comm},
  /// synchronises
  void take_last(StepIndex step, const checkpoint::StateFunction& state, output::Session& session);
  /// When the run has come to its end, `step`: waits for those on their way, and leaves nothing on the nodes.
  /// @collective{comm}, synchronises
  void finish(StepIndex step, output::Session& session);

  [[nodiscard]] const CheckpointAccount& account() const noexcept { return account_; }
  /// Returns what could not be written, on the root.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  void take(StepIndex step, const checkpoint::StateFunction& state, output::Session& session);
  void advance(output::Session& session);
  void mark_complete();
  void make_room(StepIndex step, output::Session& session);
  void help_on(StepIndex step, bool due, bool none_waits, output::Session& session);
  void complete_pending(StepIndex step, output::Session& session);
  void prune();
  [[nodiscard]] std::optional<StepIndex> kept() const noexcept;
  [[nodiscard]] double now_s() const noexcept { return monotonic_s() - start_s_; }
  void try_to(StepIndex step, const output::Session& session, const std::function<void()>& action);

  mpi::CommView comm_;
  CheckpointOptions options_;
  Context context_;
  checkpoint::Schedule schedule_;
  trace::Log& log_;
  output::StagingMemory memory_;   ///< refers to all checkpoints, one after the other
  std::vector<std::string> left_;  ///< on the root: what could not be removed when the last one got its name
  std::int64_t complete_ = 0;      ///< that have their names in the directory
  StepIndex taken_step_ = 0;       ///< refers to the one that was taken last
  CheckpointAccount account_;
  double start_s_ = monotonic_s();
  std::vector<std::string> warnings_;
  std::unique_ptr<checkpoint::Pipeline> pipeline_;  ///< last: its threads end before what they use
};

}  // namespace tailrace::run
