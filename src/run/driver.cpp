// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/driver.hpp"

#include <algorithm>
#include <optional>

#include "checkpoint/streams.hpp"
#include "mpi/verdict.hpp"
#include "output/session/session.hpp"
#include "run/checkpointing.hpp"
#include "run/stop.hpp"

namespace tailrace::run {

namespace {

/// One drive, from the first step to the verdict on the last.
class Drive {
 public:
  Drive(const SimulationCalls& simulation, const StepSpan& steps, const DriveContext& context)
      : simulation_(simulation), steps_(steps), context_(context), verdict_(context.comm) {
    result_.steps_done = steps.done;
    if (simulation.state) state_ = whole_state(simulation, context.session);
  }

  DriveResult run() {
    if (steps_.done == 0) sample(0);  // the state before the first step
    if (simulation_.compute_on)
      compute_on();
    else
      while (more()) take(result_.steps_done + 1);
    if (going_on() && verdict_.finish().failing_rank >= 0) result_.status = Status::failed;
    end_checkpoints();
    return result_;
  }

 private:
  [[nodiscard]] bool going_on() const noexcept { return result_.status == Status::finished; }

  /// The simulation says that there is nothing left to compute.
  [[nodiscard]] bool at_its_end() const { return simulation_.done && simulation_.done(); }

  [[nodiscard]] bool more() const { return result_.steps_done < steps_.last && going_on() && !at_its_end(); }

  /// The first step after this one at which a simulation that computes on is looked at.
  [[nodiscard]] StepIndex next_look(StepIndex step) const {
    const auto checkpoint =
        context_.checkpoints != nullptr ? context_.checkpoints->next_due(step) : std::nullopt;
    return std::min({simulation_.reach ? simulation_.reach(step) : step + 1, steps_.last,
                     context_.next_sample(step), checkpoint.value_or(steps_.last)});
  }

  /// Has the simulation compute on, whose time is all that is not that of looks.
  void compute_on() {
    if (!more()) return;
    std::optional<trace::Scope> computing;
    const auto compute = [&] {
      computing.emplace(context_.log, trace::Kind::compute, next_look(result_.steps_done));
    };
    compute();
    simulation_.compute_on({.last = steps_.last,
                            .next = [this](StepIndex step) { return next_look(step); },
                            .look =
                                [&](StepIndex step) {
                                  computing.reset();
                                  look_at(step);
                                  if (more()) compute();
                                  return more();
                                }});
  }

  void sample(StepIndex step) { context_.session.sample(step, simulation_.field, simulation_.rows); }

  void take(StepIndex step) {
    advance(step);
    look_at(step);
  }

  /// What is to do after a step.
  void look_at(StepIndex step) {
    sample(step);
    result_.steps_done = step;
    const auto outcome = check(step);
    context_.session.mark_committed(outcome.least);
    judge(outcome, step);
    if (!going_on()) return;
    if (context_.checkpoints != nullptr && step < steps_.last)
      context_.checkpoints->after_step(step, outcome.wish, !outcome.waiting, state_, context_.session);
    const trace::Scope scope(context_.log, trace::Kind::compute, step);
    start_verdict();
    context_.after_step(result_);
  }

  /// Looks at the field that is watched, and returns the verdict on the step before: a further span
  /// of computing in each step.
  mpi::StepVerdict::Outcome check(StepIndex step) {
    const trace::Scope scope(context_.log, trace::Kind::compute, step);
    look(step);
    return verdict_.finish();
  }

  void advance(StepIndex step) {
    const trace::Scope scope(context_.log, trace::Kind::compute, step);
    simulation_.advance(step);
  }

  /// Finds out whether the watched field went wrong.
  void look(StepIndex step) {
    const auto& watch = context_.watch;
    if (result_.not_finite_at || !watch.is_due(step, steps_.last)) return;
    if (!context_.is_finite(simulation_.field(watch.quantity))) result_.not_finite_at = step;
  }

  template <class Outcome>
  void judge(const Outcome& outcome, StepIndex step) {
    if (outcome.failing_rank >= 0)
      result_.status = Status::failed;
    else if (outcome.stop && step < steps_.last)
      result_.status = Status::stopped;
  }

  void start_verdict() {
    auto& session = context_.session;
    auto* const checkpoints = context_.checkpoints;
    const bool failed = session.failure() || (context_.watch.ends_run && result_.not_finite_at);
    const bool wish = context_.stop.take_checkpoint_wish();
    verdict_.start({.failed = failed,
                    .stop = context_.stop.requested() || session.planned(),
                    .number = session.reached(output::WriteState::durable),
                    .wish = wish || (checkpoints != nullptr && checkpoints->wants()),
                    .waiting = checkpoints != nullptr && checkpoints->waits(session)});
  }

  void end_checkpoints() {
    auto* const checkpoints = context_.checkpoints;
    if (checkpoints == nullptr) return;
    if (result_.status == Status::stopped && !context_.session.planned())
      checkpoints->take_last(result_.steps_done, state_, context_.session);
    else if (result_.status != Status::failed)
      checkpoints->finish(result_.steps_done, context_.session);
  }

  const SimulationCalls& simulation_;
  StepSpan steps_;
  const DriveContext& context_;
  mpi::StepVerdict verdict_;
  checkpoint::StateFunction state_;
  DriveResult result_;
};

}  // namespace

checkpoint::StateFunction whole_state(const SimulationCalls& simulation, output::Session& session) {
  return [&](checkpoint::StateArchive& archive) {
    simulation.state(archive);
    checkpoint::pass_reductions(archive, session.running_reductions());
  };
}

DriveResult drive(const SimulationCalls& simulation, const StepSpan& steps, const DriveContext& context) {
  return Drive(simulation, steps, context).run();
}

}  // namespace tailrace::run
