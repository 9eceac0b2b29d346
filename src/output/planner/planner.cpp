// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/system.hpp"

namespace tailrace::output {

namespace {

/// Largest number of buffers that the memory of a node has room for.
int buffers_in_memory(const Measurements& m) noexcept {
  const std::int64_t each = m.staging_bytes * m.machine.ranks_per_node;
  constexpr std::int64_t many = 1000;
  if (m.machine.memory_free_bytes <= 0 || each <= 0) return many;
  return static_cast<int>(std::clamp<std::int64_t>(m.machine.memory_free_bytes / each, 1, many));
}

/// 3.4: those of a burst that the writer has not yet taken when its last output comes.
int buffers_for_burst(const Bursts& bursts, double write_s) noexcept {
  const auto m = static_cast<double>(bursts.outputs);
  if (bursts.outputs < 2 || write_s <= bursts.interval_s || bursts.period_s < m * write_s) return 2;
  return std::max(2, 1 + static_cast<int>(m - std::floor((m - 1) * bursts.interval_s / write_s)));
}

/// 3.4: the computing behind which the slowest of twenty outputs hides.
int buffers_for_variation(const Measurements& m) noexcept {
  const double compute_s = m.compute_s.value, slowest_s = m.write_slowest_s;
  // Constant writing needs two; what takes longer than computing on average no number of buffers can hide.
  if (compute_s <= 0 || slowest_s <= compute_s || write_time(m) >= compute_s) return 2;
  return 1 + static_cast<int>(std::ceil(slowest_s / compute_s));
}

/// Two, or as many as are filled until the last of the three times at which a rank must look in with `uring`:
/// after the samples, after the commit mark, after the flush.
int buffers_for_queue(const Measurements& m, int buffers) noexcept {
  constexpr std::int64_t looks = 3;
  if (!m.each_flushed) return buffers;
  const auto wanted = (looks + m.steps_between - 1) / std::max<std::int64_t>(1, m.steps_between);
  return std::max(buffers, std::min(static_cast<int>(wanted), buffers_in_memory(m)));
}

/// 3.3: the fewest writers that take nine tenths of what the file system takes, at least one per node.
int enough_writers(const Measurements& m) {
  const int ranks = m.machine.ranks_per_node;
  const auto write_s = [&](int writers) {
    const Candidate candidate{.strategy = Strategy::leaders, .number = (ranks + writers - 1) / writers};
    return predict(m, candidate).write_s;
  };
  const double best_s = write_s(ranks);
  for (int writers = 1; writers < ranks; ++writers)
    if (write_s(writers) * 0.9 <= best_s) return writers;
  return ranks;
}

/// Leaders in groups of the size that gives `writers` of them on a node.
Candidate leaders(const Machine& machine, int writers, int buffers) noexcept {
  return {.strategy = Strategy::leaders,
          .number = (machine.ranks_per_node + writers - 1) / writers,
          .buffers = buffers};
}

/// Seconds and what they save, for the first reason.
std::string headline(const Measurements& m, const Prediction& taken, const Prediction& blocking) {
  const char* const outputs = m.outputs_left == 1 ? "output" : "outputs";
  if (taken.candidate.strategy == Strategy::blocking)
    return fmt::format("{:.3g} s for {} {}; {}", taken.run_s, m.outputs_left, outputs, taken.reason);
  return fmt::format("{:.3g} s for {} {} instead of {:.3g} s with blocking; {}", taken.run_s, m.outputs_left,
                     outputs, blocking.run_s, taken.reason);
}

/// Why the fastest possible one was not taken, if it was not.
std::string passed_over(const Measurements& m, const Decision& decision) {
  const Prediction* fastest = nullptr;
  for (const auto& prediction : decision.predictions)
    if (prediction.possible && (fastest == nullptr || prediction.run_s < fastest->run_s))
      fastest = &prediction;
  if (fastest == nullptr || fastest->candidate == decision.candidate) return {};
  const auto gain = gain_s(m, fastest->candidate, decision.candidate);
  return fmt::format("{} would gain {:.2g} s, known to {:.2g} s: too little to leave this one",
                     to_string(fastest->candidate), gain.value, gain.error);
}

/// Returns what a job that is started in another way would gain.
std::string advice(const Measurements& m, const Decision& decision) {
  const Prediction* best = nullptr;
  for (const auto& prediction : decision.predictions) {
    const bool startable = prediction.candidate.strategy == Strategy::ranks;
    if (!prediction.possible && startable && (best == nullptr || prediction.run_s < best->run_s))
      best = &prediction;
  }
  if (best == nullptr) return {};
  const auto gain = gain_s(m, best->candidate, decision.candidate);
  if (gain.value <= gain.error) return {};
  return fmt::format("{} would take {:.3g} s, but {}", to_string(best->candidate), best->run_s, best->reason);
}

std::string page_cache(const Measurements& m) {
  if (m.each_flushed || m.machine.dirty_limit_bytes <= 0) return {};
  const std::string run = human_bytes(static_cast<double>(m.run_bytes)),
                    limit = human_bytes(static_cast<double>(m.machine.dirty_limit_bytes));
  if (beyond_page_cache(m))
    return fmt::format("planned with the device's speed: the run writes {}, the system keeps {} in memory",
                       run, limit);
  return fmt::format("planned with the page cache's speed: the run writes {}, the system keeps up to {}", run,
                     limit);
}

const Prediction& find(const std::vector<Prediction>& predictions, const Candidate& candidate) {
  const auto found = std::find_if(predictions.begin(), predictions.end(),
                                  [&](const auto& p) { return p.candidate == candidate; });
  TAILRACE_CHECK(found != predictions.end(), "every candidate has a prediction");
  return *found;
}

}  // namespace

Buffers choose_buffers(const Measurements& m) {
  const double write_s = write_time(m);
  Buffers buffers{.count = 2, .reason = "2 buffers: they absorb any constant load"};
  const int burst = buffers_for_burst(m.bursts, write_s), varied = buffers_for_variation(m);
  if (burst > 2 && burst >= varied)
    buffers = {burst, fmt::format("{} buffers: outputs come in groups of {}", burst, m.bursts.outputs)};
  else if (varied > 2)
    buffers = {varied, fmt::format("{} buffers: some writes take {:.3g} s, most {:.3g} s", varied,
                                   m.write_slowest_s, write_s)};
  if (const int most = buffers_in_memory(m); most < buffers.count)
    buffers = {most,
               fmt::format("{} instead of {} buffers: {} of memory are free for the {} ranks of a node", most,
                           buffers.count, human_bytes(static_cast<double>(m.machine.memory_free_bytes)),
                           m.machine.ranks_per_node)};
  return buffers;
}

std::vector<Candidate> candidates(const Measurements& m) {
  const Machine& machine = m.machine;
  const int buffers = choose_buffers(m).count;
  std::vector<Candidate> list{{.strategy = Strategy::blocking, .buffers = 1},
                              {.strategy = Strategy::threads, .number = buffers, .buffers = buffers}};
  const auto add = [&](const Candidate& candidate) {
    if (std::find(list.begin(), list.end(), candidate) == list.end()) list.push_back(candidate);
  };
  if (machine.ranks_per_node > 1)
    for (const int writers :
         {std::clamp(machine.free_cores, 1, machine.ranks_per_node), enough_writers(m), 1})
      if (writers < machine.ranks_per_node) add(leaders(machine, writers, buffers));
  for (const int of_queue : {buffers, buffers_for_queue(m, buffers)})
    add({.strategy = Strategy::uring, .number = of_queue, .buffers = of_queue});
  const int dedicated = machine.dedicated_ranks > 0 ? machine.dedicated_ranks : machine.nodes;
  add({.strategy = Strategy::ranks, .number = dedicated, .buffers = buffers});
  add({.strategy = Strategy::spawn, .number = machine.nodes, .buffers = buffers});
  return list;
}

const Prediction& Decision::prediction() const {
  return find(predictions, candidate);
}

Decision choose(const Measurements& m) {
  return choose(m, {.strategy = Strategy::blocking, .buffers = 1});
}

Decision choose(const Measurements& m, const Candidate& incumbent) {
  Decision decision;
  decision.candidate = incumbent;
  auto all = candidates(m);
  if (std::find(all.begin(), all.end(), incumbent) == all.end()) all.push_back(incumbent);
  for (const auto& candidate : all) {
    decision.predictions.push_back(predict(m, candidate));
    if (!decision.predictions.back().possible) continue;
    const auto gain = gain_s(m, candidate, decision.candidate);
    if (gain.value > gain.error) decision.candidate = candidate;
  }
  const Prediction& taken = decision.prediction();
  const Prediction& blocking = decision.predictions.front();
  if (decision.candidate.strategy == Strategy::leaders) decision.group = decision.candidate.number;
  // Nothing is left to hide behind: all ranks write it, if they are surely faster than the strategy's
  // writers.
  const double surely = 1 + m.write_interference.value + m.write_interference.error;
  decision.last_blocking = blocking.possible && taken.candidate.strategy != Strategy::blocking &&
                           blocking.write_s * surely < taken.write_s;
  decision.reasons.push_back(headline(m, taken, blocking));
  for (auto reason : {passed_over(m, decision), advice(m, decision), page_cache(m)})
    if (!reason.empty()) decision.reasons.push_back(std::move(reason));
  if (decision.candidate.buffers > 1) decision.reasons.push_back(choose_buffers(m).reason);
  return decision;
}

Decision if_repaid(const Measurements& m, Decision decision, const Candidate& in_force) {
  if (decision.candidate == in_force) return decision;
  const auto now = predict(m, in_force);
  const bool hides = in_force.strategy != Strategy::blocking && in_force.buffers > 1;
  const double change_s = hides ? std::min(now.compute_s, now.write_s) : 0;
  const auto gain = gain_s(m, decision.candidate, in_force);
  if (gain.value + gain.error > change_s) return decision;
  auto reason = fmt::format("changing to {} would take {:.2g} s and gain {:.2g} s in {} outputs at best",
                            to_string(decision.candidate), change_s, gain.value + gain.error, m.outputs_left);
  auto staying = decision;
  staying.candidate = in_force;
  const auto same = [&](const auto& p) { return p.candidate == in_force; };
  if (std::none_of(staying.predictions.begin(), staying.predictions.end(), same))
    staying.predictions.push_back(now);
  staying.reasons = {headline(m, now, staying.predictions.front()), std::move(reason)};
  return staying;
}

Bursts find_bursts(const std::vector<StepIndex>& steps, double step_s) {
  if (steps.size() < 3) return {};
  const double mean =
      static_cast<double>(steps.back() - steps.front()) / static_cast<double>(steps.size() - 1);
  Bursts bursts;
  std::int64_t in_group = 1, groups = 1, largest = 1;
  StepIndex closest = steps.back();
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const StepIndex gap = steps[i] - steps[i - 1];
    if (static_cast<double>(gap) > mean) {
      ++groups;
      in_group = 1;
      continue;
    }
    closest = std::min(closest, gap);
    largest = std::max(largest, ++in_group);
  }
  if (groups < 2 || largest < 2) return {};
  bursts.outputs = largest;
  bursts.interval_s = static_cast<double>(closest) * step_s;
  bursts.period_s = static_cast<double>(steps.back() - steps.front()) / static_cast<double>(groups) * step_s;
  return bursts;
}

double expected_output_s(const Prediction& prediction, double steps, double bytes) noexcept {
  const double compute_s = prediction.compute_s * steps, write_s = prediction.write_s * bytes;
  const bool overlaps =
      prediction.candidate.strategy != Strategy::blocking && prediction.candidate.buffers > 1;
  return overlaps ? std::max(compute_s, write_s) : compute_s + write_s;
}

bool is_clearly_slower(double before_s, double after_s) noexcept {
  constexpr double tolerance = 0.25;
  return before_s > 0 && after_s > (1 + tolerance) * before_s;
}

bool is_wrong(double predicted_s, double observed_s) noexcept {
  constexpr double tolerance = 0.2;
  return std::abs(observed_s - predicted_s) > tolerance * predicted_s;
}

}  // namespace tailrace::output
