// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "output/core/meter.hpp"
#include "output/planner/output_load.hpp"
#include "output/planner/performance_model.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::output {

/// A few outputs in a row, and what a rank sees of them.
class TuningWindow {
 public:
  static constexpr std::size_t min_outputs = 3;

  /// `log` is that of the simulation's thread, `meter` that of this rank's writing; all outlive this.
  TuningWindow(const OutputLoad& load, const trace::Log& log, Meter& meter)
      : load_(load), log_(log), meter_(meter) {}

  /// Begins with the output after that of `step`; `asked_s`: seconds that this rank has stayed unchanged for
  /// questions and answers so far. @local
  void begin(StepIndex step, double asked_s);
  /// As above, behind a window under the same writer: what it has not finished yet counts for this one. So a
  /// writer that is always some outputs behind is measured too. @local
  void next(StepIndex step, double asked_s);
  /// Takes in that the output of `step` was handed over. @local
  void add(StepIndex step, double asked_s);
  /// Forgets the computing seen so far, as the writer changes. @local
  void clear() noexcept { computes_s_.clear(); }
  /// Returns whether it has so many outputs or more, and such as represent the others. The same on all ranks.
  /// @local
  [[nodiscard]] bool is_complete(std::size_t outputs) const noexcept;

  /// To be reported when the first output of all was handed over, and which one is flushed to time the
  /// device.
  void mark_output(double now_s) noexcept {
    if (first_at_s_ == 0) first_at_s_ = now_s;
  }
  void mark_flush(std::size_t outputs) noexcept { flush_outputs_ = outputs; }

  /// @local
  [[nodiscard]] Observation observe(bool each_flushed) const;

 private:
  /// Describes where the time of this rank has gone so far.
  struct Mark {
    double at_s = 0, pack_s = 0, waited_s = 0, stood_s = 0;
  };
  [[nodiscard]] Mark mark(double asked_s) const noexcept;
  void begin_at(StepIndex step, double asked_s);
  [[nodiscard]] double outputs_in(const Meter::Totals& totals) const noexcept;
  [[nodiscard]] double device_s(const Meter::Totals& totals) const noexcept;

  const OutputLoad& load_;
  const trace::Log& log_;
  Meter& meter_;
  Mark begin_, last_;
  StepIndex step_ = 0, last_step_ = 0;  ///< the window has the outputs after the first, up to the last
  std::vector<double> computes_s_;
  double bytes_ = 0;               ///< refers to the outputs in it, on all ranks
  double first_at_s_ = 0;          ///< when the first output was handed over
  std::size_t flush_outputs_ = 0;  ///< outputs up to the one that was flushed
};

}  // namespace tailrace::output
