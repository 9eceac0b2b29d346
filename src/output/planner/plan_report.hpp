// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/planner/model.hpp"
#include "tailrace/box.hpp"

namespace tailrace::output {

/// A decision of the planner, which may leave the strategy as it was. Its prediction is the one that was made
/// then.
struct TakenStrategy {
  StepIndex step = 0;  ///< from here on
  std::string strategy;
  std::string reason;
  double predicted_output_s = 0;  ///< from one output to the next; 0: nothing was predicted
  double observed_output_s = 0;   ///< likewise; 0: nothing was observed
};

/// Describes what the planner of a session knows and did. Complete on the root only.
struct PlanReport {
  bool automatic = false;  ///< the strategy was "auto"
  std::optional<Measurements> measured;
  std::vector<TakenStrategy> decisions;
  std::vector<Prediction> predictions;  ///< refers to the last decision
  std::vector<std::string> reasons;     ///< likewise
};

}  // namespace tailrace::output
