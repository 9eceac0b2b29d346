// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/placement.hpp"
#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "output/core/services.hpp"
#include "output/core/writer.hpp"
#include "output/planner/plan_report.hpp"
#include "output/planner/planner_options.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Describes what a session has beside the user's choices: what the program lends it, what it asks of the
/// planner, and where an earlier run stopped.
struct SessionContext {
  SessionServices services = {};
  PlannerOptions planner = {};
  Resume resume = {};
};

/// The life of one output file: created with its whole layout before the first step, filled
/// asynchronously, closed with its reductions.
class Session {
 public:
  /// Creates the file (rank 0) and starts the writers. @collective{comm}, synchronises. Every rank throws the
  /// same error or none. `plan` was made for the box of this rank; the streams are the same on all ranks.
  ///
  /// With a step `resume.after` in the context it opens the file that a run over the same streams left, on
  /// any number of ranks, and continues after that step: nothing up to it is written again, the reductions
  /// begin where they were. A file that cannot be written in place, because another program laid it out, is
  /// copied and replaced; `warnings` says so. Errors (input), before anything is changed: what the file
  /// lacks, has in another shape or type, or holds beyond the streams.
  Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head, const WriteOptions& options,
          trace::Log& log, SessionContext context = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes the samples that are due at `step` and hands them over. @local. Waits while no buffer is free.
  /// After a failure in the background it takes nothing more; `failure` has the reason. With the strategy
  /// `auto` all ranks call it for the same steps, and may wait for ranks that are a step late.
  /// `rows` is asked for the quantities of streams that take records.
  void sample(StepIndex step, const FieldLookup& field, const RowsLookup& rows = {});

  /// Takes the streams with reduction `final` at `step`, unless they were taken there. `sample` does it at
  /// the last step of their cadence; a run that stops earlier calls this before `finish`, without waiting for
  /// other ranks in between. @local
  void sample_final(StepIndex step, const FieldLookup& field);

  /// As `sample_final`, with values that `fill` makes share after share in the order of the plan, ascending,
  /// one buffer at a time: they need not be anywhere in memory together. Their step is recorded, and
  /// they go to the device. @local
  void write_final(StepIndex step, const ShareFill& fill);
  /// Advances what is on its way between processes, as `sample` does, and returns whether the samples up to
  /// `step` are in this state or a writer has failed. @local
  bool progress(WriteState state, StepIndex step);

  /// Waits until the writer has written what it was given, then continues with the strategy and the buffers
  /// of `options`: nothing is lost or reordered, and a failure stays. All ranks call it after the same step.
  /// @collective{comm}. Errors: as `create_writer`; usage: one of the two strategies puts each sample
  /// into a file of its own and the other does not.
  void switch_writer(const WriteOptions& options);
  /// The ranks of the session. @local
  [[nodiscard]] mpi::CommView comm() const noexcept;
  /// The options in force. @local
  [[nodiscard]] const WriteOptions& options() const noexcept;
  /// Says where the processes of this machine run; for the services of further sessions. @local
  [[nodiscard]] const std::shared_ptr<const ProcessPlacement>& placement() const noexcept;
  /// Returns what the planner of the strategy `auto` knows and did, on the root; `automatic` is false without
  /// it.
  /// @local
  [[nodiscard]] const PlanReport& plan_report() const noexcept;
  /// True once a session that is to plan only has done so; at the same step on all ranks. @local
  [[nodiscard]] bool planned() const noexcept;
  /// The step up to which the samples of this rank are at least in this state, 0 before the first. With a
  /// sink that moves samples between ranks they are neither written nor durable before they are committed.
  /// @local
  [[nodiscard]] StepIndex reached(WriteState state) const noexcept;
  /// How many steps the newest sample that this rank has written is behind the newest that it took: 0 when
  /// none is queued, and with a sink that moves samples between ranks, where a rank does not know. @local
  [[nodiscard]] StepIndex queued_steps() const noexcept;
  /// Waits until the samples up to `step`, which were taken, are in this state; durable ones are flushed for
  /// that. Returns false after `limit_s` seconds, and if a writer failed. @local; to wait for `committed`,
  /// and for any state with a sink whose ranks write together or through each other, is @collective{comm}, as
  /// `flush_all`, where a rank that does not come in time is an error that names it.
  bool wait(WriteState state, StepIndex step, double limit_s);
  /// All ranks have said that their samples up to this step are durable: says `reached`. For drivers that
  /// share a verdict in each step anyway. @local
  void mark_committed(StepIndex step) noexcept;

  /// Runs `check`, unless the output has failed; an error (usage) there is its failure. @local
  void guard(const std::function<void()>& check);
  /// Runs `check` on this rank and shares its outcome: every rank throws the same error or none, and the file
  /// stays open. Nothing is checked if the output has failed on any rank. @collective{comm}, synchronises.
  void check_together(const std::function<void()>& check);
  /// The first failure of this rank's writer, if any. @local
  [[nodiscard]] std::optional<ErrorInfo> failure() const;

  /// Writes the reductions over what was sampled up to `last_step`, flushes the writers, writes the tail,
  /// flushes the file to the device and closes it. @collective{comm}, synchronises; throws the same error on
  /// all ranks if any writer failed at any time. The file is closed and valid in that case too, with the
  /// texts of the tail if they could be written, and its commit mark says which samples are there. A
  /// reduction that never took a sample is the largest float for min, the smallest for max, 0 for rms and
  /// mean.
  void finish(StepIndex last_step, const FileTail& tail);

  /// As `finish`, for a run that another one resumes from: min and max are in the file as they are, rms and
  /// mean as the raw sums (of squares), as k-Wave leaves them; reductions without a sample are not written.
  /// @collective{comm}
  void close_for_restart(StepIndex last_step, const FileTail& tail);

  /// Waits until the samples taken so far are in the file and on the device, where every rank may read them,
  /// and the commit mark says so. Ranks that are more than `limit_s` seconds late are named in the error.
  /// Returns the step up to which they are there: the last one, but for sinks that keep small samples until
  /// more of them come. Sampling may continue after it. @collective{comm}, synchronises; throws the same
  /// error on all ranks if any writer failed at any time.
  StepIndex flush_all(double limit_s = close_limit_s);

  /// Has the samples taken so far put onto the device as soon as a buffer is free, without waiting for it;
  /// nothing with a sink whose ranks write together or through each other. @local
  void start_flush();
  /// Advances what is on its way, and returns whether samples that `start_flush` found are not on the
  /// device yet and no writer has failed. @local
  [[nodiscard]] bool waits_to_flush();
  /// Waits until the samples up to `step`, which were taken, are on the device; of those that `start_flush`
  /// has put there nothing is left to do. @collective{comm}, synchronises; throws as `flush_all` does.
  void flush_until(StepIndex step);

  /// The streams that a checkpoint's plan needs, after its own, for `write_accumulators`; their datasets are
  /// counted from `first_dataset` on. @local
  [[nodiscard]] std::vector<PlannedStream> accumulator_streams(std::size_t first_dataset) const;
  /// Puts running reductions as they were after `step`, sums in double precision, into the last streams of
  /// this session, which are the `accumulator_streams` for them. @local
  void write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step);

  /// The running reductions as they are, one for each dataset; the values belong to the session. @local
  [[nodiscard]] std::vector<RunningReduction> running_reductions();

  /// Complete after `finish`; before, only what was waited for.
  [[nodiscard]] const Account& account() const noexcept;
  /// Seconds that the computation of this rank has waited for output so far; not after `finish`. @local
  [[nodiscard]] double waited_s() const noexcept;
  /// Returns where the threads of this rank run, with the last writer thread that there was. @local
  [[nodiscard]] const ThreadPlacement& thread_placement() const noexcept;
  /// Log of the writer's spans, null when the strategy has no writer of its own. To be read after `finish`.
  [[nodiscard]] const trace::Log* writer_log() const noexcept;
  /// Bytes of buffers and accumulators on this rank.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// Returns what the user should know, such as a disk that is too small for the file: before the first step,
  /// and more after a switch to a writer that has something to say. Empty on all ranks but the root. @local
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::output
