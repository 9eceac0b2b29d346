// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "output/core/staging.hpp"
#include "tailrace/box.hpp"

namespace tailrace::output {

/// Describes what has become of samples, one after the other.
enum class WriteState {
  submitted,  ///< the simulation may change its fields
  written,    ///< the operating system has them
  durable,    ///< they are on the device
  committed,  ///< so are those of all ranks, and all ranks know
};
const char* to_string(WriteState state) noexcept;

/// Describes how far the samples of one rank have come. Whoever writes them says, any thread may ask.
class Reached {
 public:
  /// A job was written, and flushed if it asked for that.
  void mark(const Staging& job) noexcept {
    if (!job.commit_mark) return;
    written_ = *job.commit_mark;
    if (job.flush) durable_ = *job.commit_mark;
  }

  /// The step up to and with which all samples are at least in this state, 0 before the first.
  [[nodiscard]] StepIndex written() const noexcept { return written_; }
  [[nodiscard]] StepIndex durable() const noexcept { return durable_; }

 private:
  std::atomic<StepIndex> written_ = 0, durable_ = 0;
};

}  // namespace tailrace::output
