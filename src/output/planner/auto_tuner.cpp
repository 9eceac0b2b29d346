// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/auto_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

#include "base/system.hpp"
#include "output/core/sink.hpp"
#include "output/planner/host.hpp"
#include "output/registry/options.hpp"
#include "output/registry/registry.hpp"
#include "output/strategies/async_queue.hpp"

namespace tailrace::output {

namespace {

constexpr std::int64_t outputs_between_switches = 10;
/// A window, and what goes before it: until all know, and the output that is left out.
constexpr auto outputs_of_candidate = static_cast<std::int64_t>(TuningWindow::min_outputs + 2);

/// Outputs of a window. What the kernel's queue is given is known to be done up to four outputs later: small
/// outputs are gathered until the one before is recorded.
std::size_t outputs_of_window(const WriteOptions& options) {
  return options.strategy == name_of(Strategy::uring) ? 2 * TuningWindow::min_outputs
                                                      : TuningWindow::min_outputs;
}

const StrategyEntry* find_entry(Strategy strategy) {
  const auto all = strategies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) {
    return entry.name == std::string(name_of(strategy));
  });
  return found != all.end() ? &*found : nullptr;
}

/// Strategies that the build or the machine lacks, or that do not go with the sink or the streams.
std::vector<Refusal> refusals(const AutoTunerContext& context) {
  const auto& options = context.options;
  std::vector<Refusal> list;
  for (int i = 0; i < strategy_count; ++i) {
    const auto strategy = static_cast<Strategy>(i);
    const auto* const entry = find_entry(strategy);
    if (entry == nullptr)
      list.push_back({strategy, "this build does not have it"});
    else if (!entry->serves(find_sink(options.sink).traits))
      list.push_back({strategy, fmt::format("it does not go with --sink {}", options.sink)});
  }
  if (!context.can_spawn) list.push_back({Strategy::spawn, "this program starts no processes"});
  if (auto reason = kernel_queue_obstacle(); !reason.empty())
    list.push_back({Strategy::uring, std::move(reason)});
  if (context.plan.may_switch()) list.push_back({Strategy::uring, "streams may go to another directory"});
  return list;
}

/// The number of the strategy that a text names, `strategy_count` for one that the laws do not know.
int known_strategy(const std::string& text) {
  int i = 0;
  while (i < strategy_count && text.substr(0, text.find(':')) != name_of(static_cast<Strategy>(i))) ++i;
  return i;
}

/// Returns what a strategy's text represents.
Candidate candidate_of(const std::string& text) {
  const auto colon = text.find(':');
  Candidate candidate;
  if (const int known = known_strategy(text); known < strategy_count)
    candidate.strategy = static_cast<Strategy>(known);
  if (colon != std::string::npos) candidate.number = std::stoi(text.substr(colon + 1));
  if (candidate.strategy == Strategy::threads || candidate.strategy == Strategy::uring)
    candidate.buffers = candidate.number;
  constexpr std::string_view key = "buffers=";
  if (const auto at = text.find(key); at != std::string::npos)
    candidate.buffers = std::stoi(text.substr(at + key.size()));
  if (candidate.strategy == Strategy::blocking) candidate.buffers = 1;
  return candidate;
}

}  // namespace

void begin_auto(WriteOptions& options) {
  const auto* const threads = find_entry(Strategy::threads);
  const bool behind = threads != nullptr && threads->serves(find_sink(options.sink).traits);
  options.strategy = name_of(behind ? Strategy::threads : Strategy::blocking);
}

AutoTuner::AutoTuner(const AutoTunerContext& context)
    : comm_(mpi::Comm::duplicate(context.comm)),
      consultation_(comm_),
      root_(context.comm.is_root()),
      options_(context.options),
      planner_(context.planner),
      load_(context.plan, context.after),
      window_(load_, context.log, context.meter),
      performance_model_(measure_load(context)),
      current_(candidate_of(strategy_text(options_))),
      history_(planner_.tuning_directory, host_name()) {
  report_.automatic = true;
  mark(current_, "until the first outputs are measured");
  begin_as_earlier_run(context.comm);
}

/// Begins with what an earlier run with such outputs has left, and with what it knew of the disturbance.
void AutoTuner::begin_as_earlier_run(mpi::CommView comm) {
  std::string strategy;
  if (root_ && !planner_.plan_only && planner_.script.empty()) {
    kind_ = kind_of_output(performance_model_.measurements(outputs_left()), options_.sink);
    if (const auto record = history_.find(kind_)) {
      dropped_ = record->dropped;
      performance_model_.assume(record->interference, record->write_interference);
      if (const auto candidate = left_by(*record)) {
        strategy = record->strategy;
        report_.decisions.clear();
        mark(*candidate, "the last run with such outputs on this machine ended with it");
      }
    }
  }
  strategy = mpi::broadcast(comm, strategy, 0);
  if (!strategy.empty()) parse_strategy("auto", strategy, options_);
}

/// What a record names, if this run can begin with it.
std::optional<Candidate> AutoTuner::left_by(const TuningRecord& record) const {
  auto parsed = options_;
  const bool understood = [&] {
    try {
      parse_strategy("auto", record.strategy, parsed);
      return strategy_text(parsed) == record.strategy;
    } catch (const Error&) {
      return false;
    }
  }();
  if (!understood || known_strategy(record.strategy) == strategy_count) return {};
  const auto candidate = candidate_of(record.strategy);
  if (!predict(measurements(outputs_left()), candidate).possible) return {};
  return candidate;
}

Measurements AutoTuner::measure_load(const AutoTunerContext& context) {
  auto mine = this_host();
  mine.free_cores = context.free_cores;
  mine.spawn_slots = mpi::Environment::free_slots();
  std::vector<Host> hosts;
  for (const auto& text : mpi::gather(context.comm, to_text(mine), 0)) hosts.push_back(host_from(text));
  Measurements m;
  m.bytes = static_cast<std::int64_t>(load_.bytes());
  m.largest_rank_bytes = static_cast<std::int64_t>(mpi::max(context.comm, load_.own_bytes()));
  m.staging_bytes = mpi::max(context.comm, context.plan.staging_bytes());
  m.datasets = load_.datasets();
  m.steps_between = load_.fewest_between();
  m.run_bytes = context.plan.file_bytes();
  m.each_flushed = options_.flush_samples;
  if (root_) m.machine = machine_of(hosts);
  if (options_.pace) m.machine.writer_limit_bytes_s = options_.pace->bandwidth_bytes_s;
  if (root_) m.refused = refusals(context);
  times_flush_ = mpi::max(context.comm, std::int64_t{root_ && !m.each_flushed && beyond_page_cache(m)}) == 1;
  return m;
}

bool AutoTuner::wants_flush(StepIndex step) noexcept {
  // Late enough that what came before it has gone to the device meanwhile, or has not.
  constexpr std::size_t timed = TuningWindow::min_outputs - 1;
  if (!times_flush_ || next_ != timed || !is_output(step)) return false;
  window_.mark_flush(next_ + 1);
  return true;
}

void AutoTuner::wait(const std::function<void()>& progress) {
  const double start_s = monotonic_s();
  for (Backoff backoff; !consultation_.complete(); backoff.pause()) {
    progress();
    if (monotonic_s() - start_s > close_limit_s)
      throw Error(ErrorKind::internal,
                  fmt::format("no rank came to the planner's question for {} s", close_limit_s));
  }
  waited_s_ += monotonic_s() - start_s;
}

bool AutoTuner::before(StepIndex step, const std::function<void()>& progress) {
  const auto strategy = strategy_text(options_);
  if (stage_ == Stage::asking) {
    wait(progress);
    consultation_.answer(root_ ? decide() : "");
    stage_ = Stage::answering;
  } else if (stage_ == Stage::answering) {
    wait(progress);
    stage_ = Stage::watching;
    act_on(consultation_.text(), step);
  }
  if (last_blocking_ && is_output(step) && outputs_left() == 1) {
    mark({.strategy = Strategy::blocking, .buffers = 1}, "the last output has nothing to hide behind");
    act_on("blocking 0 0 0", step);
  }
  return strategy_text(options_) != strategy;
}

void AutoTuner::after(StepIndex step) {
  if (!is_output(step)) return;
  ++next_;
  ++outputs_since_switch_;
  window_.mark_output(monotonic_s());
  if (skip_ > 0) {
    --skip_;
    window_.begin(step, waited_s_);
    return;
  }
  window_.add(step, waited_s_);
  if (stage_ != Stage::watching || complete_ || !window_.is_complete(outputs_wanted())) return;
  consultation_.ask(window_.observe(options_.flush_samples).numbers());
  stage_ = Stage::asking;
  if (attempt_ == Attempt::running)
    attempt_ = Attempt::judged;  // the window continues
  else
    window_.next(step, waited_s_);
}

/// A change is judged by its first output.
std::size_t AutoTuner::outputs_wanted() const {
  return attempt_ == Attempt::running ? 1 : outputs_of_window(options_);
}

void AutoTuner::finish(const std::function<void()>& progress) {
  if (stage_ == Stage::asking) {
    wait(progress);
    consultation_.answer(root_ ? decide() : "");
    stage_ = Stage::answering;
  }
  if (stage_ == Stage::answering) wait(progress);
  stage_ = Stage::watching;
  if (root_) remember();
}

/// Keeps what this run has shown for later ones.
void AutoTuner::remember() {
  if (last_strategy_.empty() || !planner_.script.empty()) return;
  TuningRecord record;
  record.strategy = last_strategy_;
  record.dropped = dropped_;
  const auto m = measurements(0);
  if (performance_model_.has_measured_interference()) {
    record.interference = m.interference;
    record.write_interference = m.write_interference;
  }
  if (kind_.empty()) kind_ = kind_of_output(m, options_.sink);
  if (auto reason = history_.keep(kind_, record); !reason.empty())
    report_.reasons.push_back(std::move(reason));
  last_strategy_.clear();
}

/// What another strategy has to gain over: before the first decision the simplest one, unless that was
/// dropped.
Candidate AutoTuner::incumbent() const {
  const bool dropped =
      std::find(dropped_.begin(), dropped_.end(), name_of(Strategy::blocking)) != dropped_.end();
  return decided_ || dropped ? current_ : Candidate{.strategy = Strategy::blocking, .buffers = 1};
}

/// On the root: the answer to what the ranks have observed, "STRATEGY LAST ATTEMPT DONE", with - for no
/// change.
std::string AutoTuner::decide() {
  const auto seen = Observation::of(consultation_.largest());
  if (attempt_ == Attempt::judged) return judge(seen);
  // Small outputs are gathered while the writer is busy: nothing of them may be complete yet.
  if (!decided_ && seen.jobs == 0 && planner_.script.empty()) return "- 0 0 0";
  observed_s_ += seen.period_s;
  report_.decisions.back().observed_output_s = observed_s_ / ++windows_;
  performance_model_.learn(seen, current_);
  last_strategy_ = to_string(current_);
  if (!planner_.script.empty()) return take_from_script();
  if (seen.flush_pending > 0) return "- 0 0 0";
  if (planner_.plan_only) return plan_on();
  const bool wrong =
      decided_ && is_wrong(expected_output_s(predicted_, seen.steps, seen.bytes), seen.period_s);
  const bool news = decided_ && !informed_ && performance_model_.has_measured_interference();
  const bool may = outputs_since_switch_ >= outputs_between_switches;
  if (decided_ && !(may && (wrong || news))) return "- 0 0 0";
  informed_ = performance_model_.has_measured_interference();
  const auto m = measurements(outputs_left());
  return take(if_repaid(m, choose(m, incumbent()), current_));
}

/// After the first output of a change: takes it back if it was clearly slower than what was left for it.
std::string AutoTuner::judge(const Observation& seen) {
  constexpr double similar = 0.25;  // outputs of other sizes say nothing
  const bool comparable = std::abs(seen.steps - 1) < similar && std::abs(seen.bytes - 1) < similar;
  if (!comparable || !is_clearly_slower(left_output_s_, seen.period_s)) return "- 0 0 0";
  dropped_.push_back(to_string(current_));
  report_.decisions.back().observed_output_s = seen.period_s;
  mark(left_, fmt::format("{} took {:.3g} s for its first output, this one {:.3g} s: dropped",
                          dropped_.back(), seen.period_s, left_output_s_));
  predicted_ = predict(measurements(outputs_left()), left_);
  report_.decisions.back().predicted_output_s = predicted_.per_output_s;
  return to_string(left_) + " 0 0 0";
}

/// For a plan: what is to be measured before it can be made, or nothing.
std::optional<TakenStrategy> AutoTuner::next_candidate() const {
  if (outputs_left() < outputs_of_candidate || current_.strategy == Strategy::uring) return {};
  if (!performance_model_.has_measured_interference()) {
    if (current_.strategy == Strategy::blocking) return {};  // the sink knows no other
    return TakenStrategy{.strategy = name_of(Strategy::blocking),
                         .reason = "to measure writing that nothing disturbs"};
  }
  if (outputs_left() < outputs_of_candidate + static_cast<std::int64_t>(TuningWindow::min_outputs)) return {};
  const auto m = measurements(outputs_left());
  for (const auto& candidate : candidates(m))
    if (candidate.strategy == Strategy::uring && predict(m, candidate).possible)
      return TakenStrategy{.strategy = to_string(candidate), .reason = "to measure writing by the kernel"};
  return {};
}

/// For a plan: measures the ways of writing, then decides for the whole run.
std::string AutoTuner::plan_on() {
  if (const auto proposed = next_candidate()) {
    mark(candidate_of(proposed->strategy), proposed->reason);
    return proposed->strategy + " 0 0 0";
  }
  auto answer = take(choose(measurements(static_cast<std::int64_t>(steps().size()))));
  last_strategy_ = to_string(current_);
  answer.back() = '1';
  return answer;
}

/// Makes a decision the one in force, on the root; returns the answer.
std::string AutoTuner::take(const Decision& decision) {
  report_.measured = measurements(outputs_left());
  report_.predictions = decision.predictions;
  report_.reasons = decision.reasons;
  left_ = current_;
  left_output_s_ = observed_s_ / windows_;
  mark(decision.candidate, decision.reasons.front());
  decided_ = true;
  predicted_ = decision.prediction();
  report_.decisions.back().predicted_output_s = predicted_.per_output_s;
  return fmt::format("{} {} 1 0", decision.strategy(), decision.last_blocking ? 1 : 0);
}

std::string AutoTuner::take_from_script() {
  const auto& next = planner_.script[script_at_++ % planner_.script.size()];
  mark(candidate_of(next), "the next of the script");
  return next + " 0 0 0";
}

/// Notes what is in force from the next output on.
void AutoTuner::mark(const Candidate& taken, const std::string& reason) {
  current_ = taken;
  observed_s_ = 0;
  windows_ = 0;
  report_.decisions.push_back(
      {.step = next_ < steps().size() ? steps()[next_] : 0, .strategy = to_string(taken), .reason = reason});
}

Measurements AutoTuner::measurements(std::int64_t outputs) const {
  auto m = performance_model_.measurements(outputs);
  m.dropped = dropped_;
  if (steps().size() >= 2) m.bursts = find_bursts(steps(), m.compute_s.value / load_.mean_between());
  return m;
}

void AutoTuner::act_on(const std::string& answer, StepIndex step) {
  std::istringstream words(answer);
  std::string strategy;
  int last = 0, attempt = 0, done = 0;
  words >> strategy >> last >> attempt >> done;
  complete_ = done == 1;
  if (attempt_ == Attempt::judged) attempt_ = Attempt::none;
  if (strategy == "-" || complete_) return;
  last_blocking_ = last == 1;
  auto wanted = options_;
  parse_strategy("auto", strategy, wanted);
  if (strategy_text(wanted) == strategy_text(options_)) return;
  options_ = wanted;
  attempt_ = attempt == 1 ? Attempt::running : Attempt::none;
  outputs_since_switch_ = 0;
  skip_ = 1;
  window_.clear();
  if (root_) report_.decisions.back().step = step;
}

}  // namespace tailrace::output
