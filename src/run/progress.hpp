// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/box.hpp"

namespace tailrace::run {

/// Keeps DIR/progress.json up to date: replaced as a whole, at most five times a second. One rank keeps it.
class ProgressFile {
 public:
  /// An empty directory name keeps nothing.
  ProgressFile(std::string directory, StepIndex steps);
  /// The estimate of the time left counts the steps that are left, and those whose output is still queued:
  /// once the buffers are full the writers set the pace of the steps. @local
  void update(const char* phase, StepIndex step, StepIndex queued_steps);
  /// Removes the file.
  void finish();

 private:
  std::string directory_;
  StepIndex steps_, first_step_ = 0;
  double start_s_, first_step_s_ = 0, last_s_ = 0;
  std::string last_phase_;
};

}  // namespace tailrace::run
