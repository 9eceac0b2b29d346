// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/tuning_window.hpp"

#include <algorithm>

#include "base/system.hpp"

namespace tailrace::output {

TuningWindow::Mark TuningWindow::mark(double asked_s) const noexcept {
  using trace::Kind;
  // Writing is in this thread's log when it happens inside the step.
  const double waited_s = log_.total(Kind::output_wait).seconds;
  return {.at_s = monotonic_s(),
          .pack_s = log_.total(Kind::pack).seconds,
          .waited_s = waited_s,
          .stood_s = waited_s + log_.total(Kind::write).seconds + log_.total(Kind::sync).seconds + asked_s};
}

void TuningWindow::begin_at(StepIndex step, double asked_s) {
  begin_ = last_ = mark(asked_s);
  step_ = step;
  computes_s_.clear();
  bytes_ = 0;
}

void TuningWindow::begin(StepIndex step, double asked_s) {
  begin_at(step, asked_s);
  meter_.restart(step);
}

void TuningWindow::next(StepIndex step, double asked_s) {
  begin_at(step, asked_s);
  meter_.next();
}

void TuningWindow::add(StepIndex step, double asked_s) {
  const auto now = mark(asked_s);
  computes_s_.push_back((now.at_s - last_.at_s) - (now.pack_s - last_.pack_s) -
                        (now.stood_s - last_.stood_s));
  last_ = now;
  last_step_ = step;
  bytes_ += load_.bytes_at(step);
}

/// Returns where streams have rhythms of their own, the small outputs say nothing of the large ones between
/// them: a window continues until it has seen at least half of its share of the bytes.
bool TuningWindow::is_complete(std::size_t outputs) const noexcept {
  if (computes_s_.size() < outputs) return false;
  return 2 * bytes_ >= load_.bytes() * static_cast<double>(computes_s_.size());
}

/// Seconds that the device needs for an output when the system's memory is full: it was busy since the first
/// output if the flush took longer than one output does, and with the last output only if not.
double TuningWindow::device_s(const Meter::Totals& totals) const noexcept {
  if (totals.flushed_at_s <= 0 || flush_outputs_ == 0) return 0;
  return std::min(totals.flush_s, (totals.flushed_at_s - first_at_s_) / static_cast<double>(flush_outputs_));
}

/// Returns how many outputs of mean size the jobs of the window amount to. What this rank owns of them says
/// it: a leader writes more, but in the same proportion.
double TuningWindow::outputs_in(const Meter::Totals& totals) const noexcept {
  const auto& steps = load_.steps();
  double outputs = 0, bytes = 0;
  for (auto step = std::upper_bound(steps.begin(), steps.end(), totals.after);
       step != steps.end() && *step <= totals.last_step; ++step) {
    ++outputs;
    bytes += load_.own_bytes_at(*step);
  }
  return load_.own_bytes() > 0 && bytes > 0 ? bytes / load_.own_bytes() : std::max(1.0, outputs);
}

Observation TuningWindow::observe(bool each_flushed) const {
  const auto totals = meter_.read();
  const auto outputs = static_cast<double>(computes_s_.size());
  Observation seen;
  const double mean_steps = load_.mean_between() * outputs, mean_bytes = load_.bytes() * outputs;
  seen.steps = static_cast<double>(last_step_ - step_) / mean_steps;
  if (bytes_ > 0) seen.bytes = bytes_ / mean_bytes;
  seen.period_s = (last_.at_s - begin_.at_s) / outputs;
  seen.compute_s = estimate_of(computes_s_);
  seen.compute_s.value /= seen.steps;
  seen.compute_s.error /= seen.steps;
  seen.copy_s = (last_.pack_s - begin_.pack_s) / outputs / seen.bytes;
  seen.waited_s = (last_.waited_s - begin_.waited_s) / outputs;
  seen.flush_pending = flush_outputs_ > 0 && load_.own_bytes() > 0 && totals.flushed_at_s == 0 ? 1 : 0;
  if (totals.jobs == 0) return seen;
  const double scale = 1 / outputs_in(totals);
  const auto each =
      estimate_of(totals.jobs, totals.cost.write_s + totals.cost.commit_mark_s, totals.squares_s2);
  seen.jobs = static_cast<double>(totals.jobs);
  seen.write_s = totals.cost.write_s * scale;
  seen.commit_mark_s = totals.cost.commit_mark_s * scale;
  seen.write_error = each.value > 0 ? each.error / each.value : 0;
  seen.write_slowest_s = totals.slowest_s * scale * seen.jobs;
  seen.cpu_s = totals.cost.cpu_s * scale;
  seen.submit_s = totals.cost.submit_s * scale;
  seen.flush_s = each_flushed ? totals.cost.flush_s * scale : std::max(0.0, device_s(totals) - seen.write_s);
  return seen;
}

}  // namespace tailrace::output
