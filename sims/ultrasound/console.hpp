// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"
#include "input.hpp"
#include "options.hpp"

namespace tailrace::ultrasound {

/// Describes what the program prints on standard output: a box of 65 columns as k-Wave's binaries draw it.
/// Rank 0 has one; the others, and quiet runs, have one that prints nothing.
class Console {
 public:
  Console(bool silent, int verbosity, int progress_percent);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  /// Says of a phase that has begun and has no outcome that it failed.
  ~Console();

  void title();
  /// @param device  that computes; null: the processor
  void options(const Options& options, int ranks, const device::DeviceInfo* device);
  template <class Real>
  void input(const Input<Real>& input, StepIndex steps);
  void memory(std::int64_t predicted_bytes);
  /// Prints a label and leaves room for its outcome.
  void begin(const std::string& phase);
  void done(double seconds);
  /// The steps come from `done` + 1 on.
  void start_progress(StepIndex done);
  void progress(StepIndex step, StepIndex steps, double elapsed_s);
  void summary(StepIndex steps, double seconds_per_step, double total_s, double wait_s,
               std::optional<double> hidden_fraction);
  void end(const std::string& outcome);

 private:
  void rule(const char* left, const char* right) const;
  void line(const std::string& text) const;
  void pair(const std::string& label, const std::string& value) const;

  bool silent_;
  bool in_phase_ = false;
  int verbosity_, progress_percent_;
  StepIndex next_percent_, first_ = 0;
};

}  // namespace tailrace::ultrasound
