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
