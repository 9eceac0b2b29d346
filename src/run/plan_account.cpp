// SPDX-License-Identifier: BSD-3-Clause
#include "run/plan_account.hpp"

#include <fmt/format.h>

namespace tailrace::run {

using nlohmann::json;

namespace {

json describe(const output::Measurements& m) {
  const auto& machine = m.machine;
  const json queue =
      m.queue
          ? json{{"submit_s", m.queue->submit_s}, {"write_s", m.queue->write_s}, {"cpu_s", m.queue->cpu_s}}
          : json();
  return {{"outputs_left", m.outputs_left},
          {"compute_s", m.compute_s.value},
          {"compute_error_s", m.compute_s.error},
          {"copy_s", m.copy_s},
          {"gather_s", m.write.gather_s},
          {"open_s", m.write.open_s},
          {"write_s", m.write.write_s},
          {"flush_s", m.write.flush_s},
          {"agree_s", m.write.agree_s},
          {"write_error", m.write_error},
          {"slowest_write_s", m.write_slowest_s},
          {"interference", m.interference.value},
          {"interference_error", m.interference.error},
          {"write_interference", m.write_interference.value},
          {"phi", m.phi.value},
          {"writers", m.writers},
          {"queue", queue},
          {"steps_between", m.steps_between},
          {"bytes_per_output", m.bytes},
          {"largest_rank_bytes", m.largest_rank_bytes},
          {"datasets", m.datasets},
          {"buffer_bytes", m.staging_bytes},
          {"run_bytes", m.run_bytes},
          {"beyond_page_cache", output::beyond_page_cache(m)},
          {"outputs_in_a_burst", m.bursts.outputs},
          {"ranks", machine.ranks},
          {"nodes", machine.nodes},
          {"ranks_per_node", machine.ranks_per_node},
          {"threads_per_rank", machine.threads_per_rank},
          {"free_cores", machine.free_cores},
          {"dedicated_ranks", machine.dedicated_ranks},
          {"memory_free_bytes", machine.memory_free_bytes},
          {"dirty_limit_bytes", machine.dirty_limit_bytes}};
}

json describe(const output::TakenStrategy& taken) {
  json entry{{"step", taken.step}, {"strategy", taken.strategy}, {"reason", taken.reason}};
  if (taken.predicted_output_s > 0) entry["predicted_output_s"] = taken.predicted_output_s;
  if (taken.observed_output_s > 0) entry["observed_output_s"] = taken.observed_output_s;
  return entry;
}

json describe(const output::Prediction& prediction) {
  return {{"strategy", to_string(prediction.candidate)},
          {"run_s", prediction.run_s},
          {"per_output_s", prediction.per_output_s},
          {"compute_s", prediction.compute_s},
          {"write_s", prediction.write_s},
          {"extra_processes", prediction.extra_processes},
          {"possible", prediction.possible},
          {"reason", prediction.reason}};
}

}  // namespace

json describe_plan(const output::PlanReport& report) {
  json plan{{"mode", report.automatic ? "auto" : "fixed"}};
  if (!report.automatic) return plan;
  if (report.measured) plan["measured"] = describe(*report.measured);
  plan["decisions"] = json::array();
  for (const auto& taken : report.decisions) plan["decisions"].push_back(describe(taken));
  plan["predictions"] = json::array();
  for (const auto& prediction : report.predictions) plan["predictions"].push_back(describe(prediction));
  plan["reasons"] = report.reasons;
  return plan;
}

std::string describe_decision(const output::TakenStrategy& taken) {
  return fmt::format("output from step {} on: {}, {}", taken.step, taken.strategy, taken.reason);
}

}  // namespace tailrace::run
