#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>

#include "checkpoint/streams.hpp"
#include "mpi/verdict.hpp"
#include "output/session/session.hpp"
#include "tailrace/run/checkpointing.hpp"
#include "tailrace/run/stop.hpp"
#include "tailrace/run/watch.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::run {

/// What the driver asks of a simulation: one step at a time, and its fields by name. Output, timing and
/// stopping are not its business.
template <class S>
concept Simulation = requires(S simulation, const S constant, StepIndex step, const std::string& quantity) {
  { simulation.advance(step) } -> std::same_as<void>;                // @collective, from step - 1 to step
  { constant.field(quantity) } -> std::same_as<output::FieldView>;   // @local
  { constant.memory_bytes() } -> std::convertible_to<std::int64_t>;  // @local
  // If it has any: simulation.records(quantity) -> output::RecordsView.                         @local
};

/// A simulation whose runs can be gone on with.
template <class S>
concept Resumable = Simulation<S> && requires(S simulation, checkpoint::StateArchive& archive) {
  { simulation.state(archive) } -> std::same_as<void>;  // @local: all that its future depends on, by name
  { simulation.restored(StepIndex()) } -> std::same_as<void>;  // @collective: it is that after this step
};

/// What a checkpoint of a run holds: the simulation, and the running reductions of its output.
template <Resumable S>
checkpoint::StateFunction state_of(S& simulation, output::Session& session) {
  return [&](checkpoint::StateArchive& archive) {
    simulation.state(archive);
    checkpoint::pass_reductions(archive, session.running_reductions());
  };
}

enum class Status { finished, stopped, failed };
const char* to_string(Status status) noexcept;

struct DriveResult {
  Status status = Status::finished;
  StepIndex steps_done = 0;
  std::optional<StepIndex> not_finite_at;  ///< where this rank first saw NaN or infinity
};

/// The steps that one run of a program takes of a computation, which may take several.
struct StepSpan {
  StepIndex done = 0;     ///< the state is the one after this step; earlier runs came so far
  StepIndex last = 0;     ///< to be done now
  StepIndex planned = 0;  ///< of the whole computation
};

/// Runs steps `steps.done` + 1 to `steps.last`: computes, hands the samples to the output, and once per step
/// learns, without waiting for it, whether a writer failed, the watched field went wrong or a stop was asked
/// for on any rank; or that the output, which was only to plan, has done so. All ranks leave after the same
/// step. `checkpoints`, null for none, are taken where they are due, and at the end if the run stops early.
/// @collective{comm}
template <Simulation S>
DriveResult drive(mpi::CommView comm, S& simulation, output::Session& session, const StepSpan& steps,
                  const Watch& watch, StopRequest& stop, Checkpointing* checkpoints,
                  const std::function<void(const DriveResult&)>& after_step, trace::Log& log) {
  mpi::StepVerdict verdict(comm);
  DriveResult result;
  const auto field = [&](const std::string& quantity) { return simulation.field(quantity); };
  output::RecordsLookup records;
  if constexpr (requires { simulation.records(std::string()); })
    records = [&](const std::string& quantity) { return simulation.records(quantity); };
  checkpoint::StateFunction state;
  if constexpr (Resumable<S>) state = state_of(simulation, session);
  result.steps_done = steps.done;
  if (steps.done == 0) session.sample(0, field, records);  // the state before the first step
  for (StepIndex step = steps.done + 1; step <= steps.last; ++step) {
    {
      const trace::Scope scope(log, trace::Kind::compute, step);
      simulation.advance(step);
    }
    session.sample(step, field, records);
    result.steps_done = step;
    if (!result.not_finite_at && watch.is_due(step, steps.last) && !is_finite(field(watch.quantity)))
      result.not_finite_at = step;
    const auto outcome = verdict.finish();
    session.note_committed(outcome.least);
    if (outcome.failing_rank >= 0)
      result.status = Status::failed;
    else if (outcome.stop && step < steps.last)
      result.status = Status::stopped;
    if (result.status != Status::finished) break;
    if (checkpoints != nullptr && step < steps.last)
      checkpoints->after_step(step, outcome.wish, !outcome.waiting, state, session);
    verdict.start({.failed = session.failure().has_value() || (watch.ends_run && result.not_finite_at),
                   .stop = stop.requested() || session.planned(),
                   .number = session.reached(output::WriteState::durable),
                   .wish = stop.take_checkpoint_wish() || (checkpoints != nullptr && checkpoints->wants()),
                   .waiting = checkpoints != nullptr && checkpoints->waits(session)});
    after_step(result);
  }
  if (result.status == Status::finished && verdict.finish().failing_rank >= 0) result.status = Status::failed;
  if (checkpoints != nullptr && result.status == Status::stopped && !session.planned())
    checkpoints->take_last(result.steps_done, state, session);
  else if (checkpoints != nullptr && result.status != Status::failed)
    checkpoints->finish(result.steps_done, session);
  return result;
}

}  // namespace tailrace::run
