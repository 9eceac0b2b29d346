// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "device/device.hpp"
#include "output/core/staging.hpp"
#include "output/core/writer.hpp"
#include "output/session/commits.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::output {

/// Describes where the samples of a rank leave: the writer that takes its buffers, as soon as copies from a
/// device into them have arrived, and what brings them to other ranks, if the sink does so. Every wait for
/// either is reported in the account and the log. What is passed to the constructor outlives it.
class OutputPipeline {
 public:
  OutputPipeline(Commits& commits, Account& account, trace::Log& log)
      : commits_(commits), account_(account), log_(log) {}

  /// The next writer; the one before has been waited for and taken away by `take_writer_away`.
  void set_writer(std::unique_ptr<Writer> writer) noexcept { writer_ = std::move(writer); }
  void take_writer_away() noexcept {
    pins_.clear();
    writer_.reset();
  }
  [[nodiscard]] Writer& writer() const noexcept { return *writer_; }
  /// Returns whether small samples may wait in a buffer for more. @local
  [[nodiscard]] bool batches() const { return !commits_.exchanges() && writer_->batches(); }

  /// Waits by `action`; what the writer counts as waiting meanwhile is not counted twice. @local
  void wait(StepIndex step, const std::function<void()>& action);
  /// Seconds that the computation has waited so far, by all writers. @local
  [[nodiscard]] double waited_s() const noexcept { return account_.wait_s + writer_->account().wait_s; }
  /// A free buffer for samples of `step`; waits until there is one. @local
  Lease acquire(StepIndex step);
  /// Makes the memory of a buffer one that the device copies to by itself. @local
  void pin(const Staging& buffer, device::Device& device);
  /// Hands a buffer over to the writer, in the order of the calls and not before `arrival` is reached; null:
  /// all is there. @local
  void submit(Lease job, const device::Event* arrival = nullptr);
  /// The first failure of a write, or of a device, if any. @local
  [[nodiscard]] std::optional<ErrorInfo> failure() const { return failure_ ? failure_ : writer_->failure(); }
  /// Calls what takes fields of the program or gives work to a device, unless the output has failed. If a
  /// field is wrong (usage) or the device fails now (resource), the output has failed. @local
  void guard(const std::function<void()>& action);
  /// True if a job that is submitted now would be written at once. @local
  [[nodiscard]] bool idle() const { return arriving_.empty() && writer_->idle(); }
  /// Advances whatever is on its way from a device and between processes. @local
  void progress();
  /// Waits until all that was submitted is written or dropped. @local
  void flush_all(StepIndex step);
  /// The same at the end, with what is left to move between ranks. @collective{comm} of the sink if samples
  /// move between ranks. Errors: the first of the writer's and of the moving.
  void complete(StepIndex step);
  /// Waits while other ranks depend on this one to take in their samples. @local
  void keep_up(StepIndex step);

 private:
  /// A buffer that copies from a device are on the way to.
  struct Arriving {
    Lease job;
    const device::Event* arrival;  ///< null: all is there
    [[nodiscard]] bool here() const { return arrival == nullptr || arrival->reached(); }
  };
  void hand_over();
  void wait_for_arrivals();

  Commits& commits_;
  Account& account_;
  trace::Log& log_;
  std::unique_ptr<Writer> writer_;
  std::map<const std::byte*, device::Pin> pins_;  ///< of its buffers
  std::deque<Arriving> arriving_;                 ///< in the order of their submission
  std::optional<ErrorInfo> failure_;              ///< of the device, or of a field
};

}  // namespace tailrace::output
