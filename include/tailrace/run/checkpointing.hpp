#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/base/system.hpp"
#include "tailrace/checkpoint/archive.hpp"
#include "tailrace/checkpoint/local.hpp"
#include "tailrace/checkpoint/save.hpp"
#include "tailrace/checkpoint/schedule.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/session.hpp"
#include "tailrace/run/case_file.hpp"
#include "tailrace/trace/trace.hpp"

namespace tailrace::run {

/// What a user decides about checkpoints.
struct CheckpointOptions {
  checkpoint::Rules rules;
  int keep = 2;
  std::int64_t buffer_bytes = 256 << 20;  ///< per rank, for state that is on its way to the disk
  /// A checkpoint that cannot be written is left out, with a warning; else it ends the run.
  bool goes_on = true;
  checkpoint::LocalLevel local;  ///< the first level, if there are two
};

/// Reads the table [checkpoint] of a case. What is wrong becomes problems of the file. @local
void read_checkpoint(CaseFile& file, CheckpointOptions& options);
/// Makes the table of the resolved case complete. @local
void set_checkpoint_defaults(CaseFile& file, const CheckpointOptions& options);

/// What checkpoints cost this rank so far.
struct CheckpointAccount {
  std::int64_t taken = 0, bytes = 0;  ///< bytes of this rank's state, in all of them
  double held_up_s = 0;               ///< the computation stood still
};

/// The checkpoints of a run: when they are taken, and how one that is on its way gets its name.
class Checkpointing {
 public:
  /// Where and of what; `session` is the output whose samples belong to the state.
  struct Context {
    std::string directory;
    std::string simulation, program;
    std::function<double(StepIndex)> time_s;  ///< of the state after a step
    output::Options write;
    StepIndex from = 0;  ///< the run goes on from the checkpoint of this step, which is kept; 0: from none
  };
  /// @collective{comm}, synchronises. Every rank throws the same error or none.
  Checkpointing(mpi::CommView comm, const CheckpointOptions& options, Context context, trace::Log& log);

  /// Whether the clock, which is that of the root, makes one due. @local
  [[nodiscard]] bool wants() const noexcept;
  /// Whether one that is on its way still waits for this rank. @local
  [[nodiscard]] bool waits();

  /// After a step: the one on its way counts from now on if all ranks have written it (`all_written`), on two
  /// levels first on the one, then on the other; and takes a new one if it is due by steps or asked for. The
  /// same on all ranks. @collective{comm}
  void after_step(StepIndex step, bool asked, bool all_written, const checkpoint::StateFunction& state,
                  output::Session& session);
  /// When the run stops early: takes one, and waits until it is in the directory. @collective{comm},
  /// synchronises
  void take_last(StepIndex step, const checkpoint::StateFunction& state, output::Session& session);
  /// When the run has come to its end, `step`: waits for those on their way, and leaves nothing on the nodes.
  /// @collective{comm}, synchronises
  void finish(StepIndex step, output::Session& session);

  [[nodiscard]] const CheckpointAccount& account() const noexcept { return account_; }
  /// What could not be written, on the root.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  void take(StepIndex step, const checkpoint::StateFunction& state);
  void commit(output::Session& session);
  void commit_local(output::Session& session);
  void commit_copy();
  void complete_pending(StepIndex step, output::Session& session);
  void prune();
  [[nodiscard]] double now_s() const noexcept { return monotonic_s() - start_s_; }
  void try_to(StepIndex step, const std::function<void()>& action);

  mpi::CommView comm_;
  CheckpointOptions options_;
  Context context_;
  checkpoint::Schedule schedule_;
  trace::Log& log_;
  std::unique_ptr<checkpoint::Saving> saving_;
  std::unique_ptr<checkpoint::TwoLevels> levels_;  ///< instead of it, if there are two
  std::int64_t complete_ = 0;                      ///< that have their names in the directory
  CheckpointAccount account_;
  double start_s_ = monotonic_s();
  std::vector<std::string> warnings_;
};

}  // namespace tailrace::run
