// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpi/consultation.hpp"
#include "output/core/plan.hpp"
#include "output/planner/plan_report.hpp"
#include "output/planner/planner.hpp"
#include "output/planner/planner_options.hpp"
#include "output/planner/tuning_history.hpp"
#include "output/planner/tuning_window.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Describes what an auto-tuner watches.
struct AutoTunerContext {
  mpi::CommView comm;  ///< the ranks of the session
  const Plan& plan;
  const WriteOptions& options;  ///< with the strategy to begin with
  const PlannerOptions& planner;
  bool can_spawn;   ///< the program starts processes that write
  trace::Log& log;  ///< refers to the simulation's thread
  Meter& meter;     ///< refers to this rank's writing
  int free_cores;   ///< refers to this machine, without a thread that computes
  StepIndex after;  ///< the outputs up to this step were written by an earlier run
};

/// Finds out what `auto` begins with: a strategy that does no harm and goes with the sink. @local
void begin_auto(WriteOptions& options);

/// The strategy `auto`: watches the outputs of a session in windows of a few, and says when to resume with
/// which strategy. After each window the ranks' observations go to the root, which decides; the answer comes
/// back to all. Question and answer are under way while the simulation computes, and all ranks act at the
/// same step.
class AutoTuner {
 public:
  /// @collective{context.comm}, synchronises
  explicit AutoTuner(const AutoTunerContext& context);

  /// The strategy in force.
  [[nodiscard]] const WriteOptions& options() const noexcept { return options_; }

  /// To be called before the samples of each step are taken. True if the writer has to be switched to
  /// `options()`. Waits for ranks that are a step late, and calls `progress` meanwhile. @collective{comm}
  bool before(StepIndex step, const std::function<void()>& progress);
  /// To be called after the samples of each step were taken. @collective{comm}, does not wait
  void after(StepIndex step);
  /// Returns whether the samples of `step` should go onto the device at once, so that this is timed. @local
  [[nodiscard]] bool wants_flush(StepIndex step) noexcept;
  /// Ends what is under way. @collective{comm}
  void finish(const std::function<void()>& progress);

  /// True once it has decided, if the options ask for no more than that (`plan_only`). The same on all ranks.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  [[nodiscard]] const PlanReport& report() const noexcept { return report_; }
  /// Seconds for which this rank stayed unchanged for questions and answers.
  [[nodiscard]] double waited_s() const noexcept { return waited_s_; }

 private:
  enum class Stage { watching, asking, answering };
  /// Of a change that is taken back if its first output is clearly slower than those before it.
  enum class Attempt { none, running, judged };

  [[nodiscard]] bool is_output(StepIndex step) const noexcept {
    return next_ < steps().size() && steps()[next_] == step;
  }
  [[nodiscard]] std::int64_t outputs_left() const noexcept {
    return static_cast<std::int64_t>(steps().size() - next_);
  }
  [[nodiscard]] const std::vector<StepIndex>& steps() const noexcept { return load_.steps(); }
  void wait(const std::function<void()>& progress);
  std::string decide();
  [[nodiscard]] Candidate incumbent() const;
  std::string plan_on();
  std::string judge(const Observation& seen);
  void begin_as_earlier_run(mpi::CommView comm);
  [[nodiscard]] std::optional<Candidate> left_by(const TuningRecord& record) const;
  void remember();
  [[nodiscard]] std::size_t outputs_wanted() const;
  [[nodiscard]] std::optional<TakenStrategy> next_candidate() const;
  std::string take(const Decision& decision);
  std::string take_from_script();
  void mark(const Candidate& taken, const std::string& reason);
  [[nodiscard]] Measurements measurements(std::int64_t outputs) const;
  void act_on(const std::string& answer, StepIndex step);
  Measurements measure_load(const AutoTunerContext& context);

  mpi::Comm comm_;  ///< its own: a rank may be late with a question when the others share an outcome
  mpi::Consultation consultation_;
  bool root_;
  WriteOptions options_;
  PlannerOptions planner_;
  OutputLoad load_;
  TuningWindow window_;
  std::size_t next_ = 0;  ///< the first output that has not been taken
  bool times_flush_ = false;
  PerformanceModel performance_model_;
  PlanReport report_;

  Stage stage_ = Stage::watching;
  int skip_ = 1;  ///< outputs whose memory is touched for the first time
  double waited_s_ = 0;

  // On the root.
  Candidate current_;
  bool decided_ = false, informed_ = false;
  Prediction predicted_;  ///< refers to the decision in force
  double observed_s_ = 0;
  int windows_ = 0;
  std::size_t script_at_ = 0;
  TuningHistory history_;
  std::string kind_;           ///< of the outputs, in the history
  std::string last_strategy_;  ///< the strategy that was last in force for a whole window
  Candidate left_;             ///< before the change that is tried, with the time from one output to the next
  double left_output_s_ = 0;
  std::vector<std::string> dropped_;

  // From the answers.
  std::int64_t outputs_since_switch_ = 0;
  bool last_blocking_ = false, complete_ = false;
  Attempt attempt_ = Attempt::none;
};

}  // namespace tailrace::output
