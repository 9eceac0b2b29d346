// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "output/planner/model.hpp"
#include "tailrace/box.hpp"

/// Describes what `--write auto` decides, and why: plain values, no MPI, no files.
namespace tailrace::output {

/// Staging buffers per rank, and why so many.
struct Buffers {
  int count = 2;
  std::string reason;
};

/// As many as the load needs, no more than the memory allows. @local
Buffers choose_buffers(const Measurements& m);

/// All strategies worth a prediction, the simplest first. @local
std::vector<Candidate> candidates(const Measurements& m);

/// Describes what is to be done with the outputs that are left.
struct Decision {
  Candidate candidate;
  int group = 1;                        ///< compute ranks per writer
  bool last_blocking = false;           ///< the last output of the run is written by all ranks, in the step
  std::vector<std::string> reasons;     ///< the first one says it all, the others add to it
  std::vector<Prediction> predictions;  ///< refers to all candidates
  [[nodiscard]] std::string strategy() const { return to_string(candidate); }
  [[nodiscard]] const Prediction& prediction() const;  ///< refers to the one that was taken
};

/// Takes what gains, by more than the uncertainty of the comparison, over all that is simpler: `blocking` if
/// nothing surely gains. @local
Decision choose(const Measurements& m);
/// As above, while `incumbent`, which is possible, is in force: it stays unless another one surely gains over
/// it. @local
Decision choose(const Measurements& m, const Candidate& incumbent);

/// The decision, or to stay with what is in force if the change could not repay, in the outputs that are
/// left, what it costs: what is on its way is written while nobody computes. @local
Decision if_repaid(const Measurements& m, Decision decision, const Candidate& in_force);

/// Finds groups among the ascending steps of outputs, of `step_s` seconds each. @local
Bursts find_bursts(const std::vector<StepIndex>& steps, double step_s);

/// From one output to the next under a prediction, when the outputs have so many times the steps between them
/// and the bytes that it was made for. @local
double expected_output_s(const Prediction& prediction, double steps, double bytes) noexcept;

/// Returns whether the first output after a change, as a time from one output to the next, is so much slower
/// than those before it that the change is taken back. @local
bool is_clearly_slower(double before_s, double after_s) noexcept;

/// Returns whether an observed time per output shows that a decision rests on numbers that no longer hold.
/// @local
bool is_wrong(double predicted_s, double observed_s) noexcept;

}  // namespace tailrace::output
