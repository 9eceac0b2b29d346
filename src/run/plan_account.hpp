// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "output/planner/plan_report.hpp"

namespace tailrace::run {

/// Returns what the planner of the output knows and did, for `plan` of run.json. @local
nlohmann::json describe_plan(const output::PlanReport& report);
/// A decision for people, on one line. @local
std::string describe_decision(const output::TakenStrategy& taken);

}  // namespace tailrace::run
