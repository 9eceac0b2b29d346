// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "output/core/staging.hpp"
#include "output/core/writer.hpp"
#include "output/session/commits.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::output {

/// Describes where the samples of a rank leave: the writer that takes its buffers, and what brings them to
/// other ranks, if the sink does so. Every wait for either is reported in the account and the log.
/// What is passed to the constructor outlives it.
class OutputPipeline {
 public:
  OutputPipeline(Commits& commits, Account& account, trace::Log& log)
      : commits_(commits), account_(account), log_(log) {}

  /// The next writer; the one before has been waited for and taken away by `take_writer_away`.
  void set_writer(std::unique_ptr<Writer> writer) noexcept { writer_ = std::move(writer); }
  void take_writer_away() noexcept { writer_.reset(); }
  [[nodiscard]] Writer& writer() const noexcept { return *writer_; }
  /// Returns whether small samples may wait in a buffer for more. @local
  [[nodiscard]] bool batches() const { return !commits_.exchanges() && writer_->batches(); }

  /// Waits by `action`; what the writer counts as waiting meanwhile is not counted twice. @local
  void wait(StepIndex step, const std::function<void()>& action);
  /// Seconds that the computation has waited so far, by all writers. @local
  [[nodiscard]] double waited_s() const noexcept { return account_.wait_s + writer_->account().wait_s; }
  /// A free buffer for samples of `step`; waits until there is one. @local
  Lease acquire(StepIndex step);
  /// Advances whatever is on its way between processes. @local
  void progress();
  /// Waits until all that was submitted is written or dropped. @local
  void flush_all(StepIndex step);
  /// The same at the end, with what is left to move between ranks. @collective{comm} of the sink if samples
  /// move between ranks. Errors: the first of the writer's and of the moving.
  void complete(StepIndex step);
  /// Waits while other ranks depend on this one to take in their samples. @local
  void keep_up(StepIndex step);

 private:
  Commits& commits_;
  Account& account_;
  trace::Log& log_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace tailrace::output
