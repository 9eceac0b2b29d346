#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/base/error.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/file_content.hpp"
#include "tailrace/output/options.hpp"
#include "tailrace/output/plan.hpp"
#include "tailrace/output/resume.hpp"
#include "tailrace/output/stream.hpp"
#include "tailrace/output/writer.hpp"
#include "tailrace/trace/trace.hpp"

namespace tailrace::output {

/// Finds the field of a quantity on this rank at the time of a sample.
using FieldLookup = std::function<FieldView(const std::string& quantity)>;

/// The life of one output file: created with its whole layout before the first step, filled behind the
/// computation, closed with its reductions.
class Session {
 public:
  /// Creates the file (rank 0) and starts the writers. @collective{comm}, synchronises. Every rank throws the
  /// same error or none. `plan` was made for the box of this rank; the streams are the same on all ranks.
  Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head, const Options& options,
          trace::Log& log);
  /// Opens the file that a run over the same streams left, on any number of ranks, and goes on after step
  /// `resume.after`: nothing up to that step is written again, the reductions begin where they were. A file
  /// that cannot be written in place, because another program laid it out, is copied and replaced; `warning`
  /// says so. With `resume.after` 0 as above. @collective{comm}, synchronises. Errors (input), before
  /// anything is changed: what the file lacks, has in another shape or type, or holds beyond the streams.
  Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head, const Options& options,
          trace::Log& log, const Resume& resume);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes the samples that are due at `step` and hands them over. @local. Waits while no buffer is free.
  /// After a failure in the background it takes nothing more; `failure` has the reason.
  void sample(StepIndex step, const FieldLookup& field);

  /// Takes the streams with reduction `final` at `step`, unless they were taken there. `sample` does it at
  /// the last step of their cadence; a run that stops earlier calls this before `finish`, without waiting for
  /// other ranks in between. @local
  void sample_final(StepIndex step, const FieldLookup& field);

  /// The first failure of this rank's writer, if any. @local
  [[nodiscard]] std::optional<ErrorInfo> failure() const;

  /// Writes the reductions over what was sampled up to `last_step`, drains the writers, writes the tail,
  /// flushes the file to the device and closes it. @collective{comm}, synchronises; throws the same error on
  /// all ranks if any writer failed at any time. The file is closed and valid in that case too, with the
  /// texts of the tail if they could be written, and its record tells which samples are there. A reduction
  /// that never took a sample is the largest float for min, the smallest for max, 0 for rms and mean.
  void finish(StepIndex last_step, const FileTail& tail);

  /// As `finish`, for a run that another one goes on with: min and max stand in the file as they are, rms and
  /// mean as the raw sums (of squares), as k-Wave leaves them; reductions without a sample are not written.
  /// @collective{comm}
  void suspend(StepIndex last_step, const FileTail& tail);

  /// Waits until all samples taken so far are in the file and on the device, where every rank may read them,
  /// and the record says so. Sampling may go on after it. @collective{comm}, synchronises; throws the same
  /// error on all ranks if any writer failed at any time.
  void drain();

  /// The streams that a checkpoint's plan needs, after its own, for `save_accumulators`; their datasets are
  /// counted from `first_dataset` on. @local
  [[nodiscard]] std::vector<PlannedStream> accumulator_streams(std::size_t first_dataset) const;
  /// Puts the running reductions as they are after `step`, sums in double precision, into the last streams of
  /// `checkpoint`. @local
  void save_accumulators(Session& checkpoint, StepIndex step);

  /// Complete after `finish`; before, only what was waited for.
  [[nodiscard]] const Account& account() const noexcept;
  /// Log of the writer's spans, null when the strategy has no writer of its own. To be read after `finish`.
  [[nodiscard]] const trace::Log* writer_log() const noexcept;
  /// Bytes of buffers and accumulators on this rank.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// What the user should know before the first step, such as a disk that is too small for the file; empty if
  /// nothing, and on all ranks but the root.
  [[nodiscard]] const std::string& warning() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::output
