// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tailrace::output {

/// Describes what a session asks of the planner beside the choice that the strategy `auto` is.
struct PlannerOptions {
  /// Measure and predict as `auto` does, whatever the strategy; see `Session::planned`.
  bool plan_only = false;
  /// For tests: what `auto` takes after each window, again and again, instead of what it would choose.
  std::vector<std::string> script = {};
  /// Where `auto` looks for what earlier runs on this machine have shown, and keeps what this one shows;
  /// empty: nowhere.
  std::string tuning_directory = {};
};

}  // namespace tailrace::output
