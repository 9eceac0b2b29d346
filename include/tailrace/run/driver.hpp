// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>

#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/account.hpp"
#include "tailrace/run/watch.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::output {
class Session;
}

namespace tailrace::run {

class Checkpointing;
class StopRequest;

/// The steps at which a simulation is looked at that computes on meanwhile.
struct Looks {
  StepIndex last = 0;                        ///< the last of them
  std::function<StepIndex(StepIndex)> next;  ///< the first one after a step, up to the last. @local
  /// Its fields are those of this step. Returns whether it is to continue; otherwise it ends, and its state
  /// is that of this step. On all ranks, in the order of the steps. @collective
  std::function<bool(StepIndex)> look;
};

/// A simulation that takes a step after the other.
template <class S>
concept TakesSteps = requires(S simulation, StepIndex step) {
  { simulation.advance(step) } -> std::same_as<void>;  // @collective, from step - 1 to step
};

/// A simulation that computes on while it is looked at.
template <class S>
concept ComputesOn = requires(S simulation, const Looks& looks) {
  { simulation.compute_on(looks) } -> std::same_as<void>;  // @collective, up to the last look
};

/// Describes what the driver asks of a simulation: steps, and its fields by name. Output, timing and stopping
/// are not its business.
template <class S>
concept Simulation = (TakesSteps<S> || ComputesOn<S>)&&requires(const S constant,
                                                                const std::string& quantity) {
  { constant.field(quantity) } -> std::same_as<output::FieldView>;   // @local
  { constant.memory_bytes() } -> std::convertible_to<std::int64_t>;  // @local
  // If it has any: simulation.rows(quantity) -> output::RowsView.                         @local
  // If it computes on and has to look at itself, simulation.reach(step) -> StepIndex: the first such step
  // after this one.                                                   @local, the same on all ranks
  // If it may come to its end before the last step: simulation.done() -> bool.  @local, likewise
};

/// A simulation whose runs can be resumed.
template <class S>
concept Resumable = Simulation<S> && requires(S simulation, checkpoint::StateArchive& archive) {
  { simulation.state(archive) } -> std::same_as<void>;  // @local: all that its future depends on, by name
  { simulation.restored(StepIndex()) } -> std::same_as<void>;  // @collective: it is that after this step
};

/// A simulation as the driver calls it, whatever its type.
struct SimulationCalls {
  std::function<void(StepIndex)> advance;        ///< empty: it computes on
  std::function<void(const Looks&)> compute_on;  ///< empty: a step after the other
  std::function<StepIndex(StepIndex)> reach;     ///< empty: each step
  std::function<bool()> done;                    ///< empty: it ends with the last step
  output::FieldLookup field;
  output::RowsLookup rows;          ///< empty if the simulation has none
  checkpoint::StateFunction state;  ///< empty if its runs cannot be resumed
  std::function<void(StepIndex)> restored;
  std::function<std::int64_t()> memory_bytes;
};

/// The calls of a simulation, which outlives them. @local
template <Simulation S>
SimulationCalls calls_of(S& simulation) {
  SimulationCalls calls;
  if constexpr (TakesSteps<S>) calls.advance = [&](StepIndex step) { simulation.advance(step); };
  if constexpr (ComputesOn<S>) calls.compute_on = [&](const Looks& looks) { simulation.compute_on(looks); };
  calls.field = [&](const std::string& quantity) { return simulation.field(quantity); };
  calls.memory_bytes = [&] { return static_cast<std::int64_t>(simulation.memory_bytes()); };
  if constexpr (requires { simulation.rows(std::string()); })
    calls.rows = [&](const std::string& quantity) { return simulation.rows(quantity); };
  if constexpr (requires { simulation.reach(StepIndex()); })
    calls.reach = [&](StepIndex step) { return simulation.reach(step); };
  if constexpr (requires { simulation.done(); }) calls.done = [&] { return simulation.done(); };
  if constexpr (Resumable<S>) {
    calls.state = [&](checkpoint::StateArchive& archive) { simulation.state(archive); };
    calls.restored = [&](StepIndex step) { simulation.restored(step); };
  }
  return calls;
}

/// Returns what a checkpoint of a run holds: the simulation, and the running reductions of its output. @local
checkpoint::StateFunction whole_state(const SimulationCalls& simulation, output::Session& session);

struct DriveResult {
  Status status = Status::finished;
  StepIndex steps_done = 0;
  std::optional<StepIndex> not_finite_at;  ///< says where this rank first saw NaN or infinity
};

/// The steps that one run of a program takes of a computation, which may take several.
struct StepSpan {
  StepIndex done = 0;     ///< the state is the one after this step; earlier runs came so far
  StepIndex last = 0;     ///< to be done now
  StepIndex planned = 0;  ///< refers to the whole computation
};

/// Describes what the driver works with beside the simulation; all of it outlives the drive.
struct DriveContext {
  mpi::CommView comm;
  output::Session& session;
  StopRequest& stop;
  trace::Log& log;
  const Watch& watch;
  Checkpointing* checkpoints = nullptr;  ///< null: none are taken
  std::function<void(const DriveResult&)> after_step;
  std::function<StepIndex(StepIndex)> next_sample;  ///< the first step after this one that an output looks at
  /// Whether a field is free of NaN and infinity, wherever it is. @local
  std::function<bool(const output::FieldView&)> is_finite = run::is_finite;
};

/// Runs steps `steps.done` + 1 to `steps.last`: computes, hands the samples to the output, and once per step
/// learns, without waiting for it, whether a writer failed, the watched field went wrong or a stop was asked
/// for on any rank; or that the output, which was only to plan, has done so. All ranks leave after the same
/// step. A simulation that computes on is looked at where a sample or a checkpoint is due, or it has to look
/// itself; what else is learned once per step is learned there. Checkpoints are taken where they are due, and
/// at the end if the run stops early.
/// @collective{comm}
DriveResult drive(const SimulationCalls& simulation, const StepSpan& steps, const DriveContext& context);

}  // namespace tailrace::run
