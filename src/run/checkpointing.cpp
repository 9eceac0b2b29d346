// SPDX-License-Identifier: BSD-3-Clause
#include "run/checkpointing.hpp"

#include <fmt/format.h>

#include "base/system.hpp"
#include "checkpoint/store.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::run {

Checkpointing::Checkpointing(mpi::CommView comm, const CheckpointOptions& options, Context context,
                             trace::Log& log)
    : comm_(comm),
      options_(options),
      context_(std::move(context)),
      schedule_(options.rules, context_.from),
      log_(log) {
  if (context_.buffer_memory > 0) memory_.take(context_.buffer_memory);
  auto services = context_.services;
  services.memory = &memory_;
  pipeline_ = checkpoint::create_pipeline(comm_,
                                          {.directory = context_.directory,
                                           .local = options_.local,
                                           .packing = options_.packing,
                                           .write = context_.write,
                                           .services = std::move(services),
                                           .after_naming = [this] { prune(); }},
                                          log_);
}

bool Checkpointing::wants() const noexcept {
  return comm_.is_root() && schedule_.is_due_by_clock(now_s());
}

bool Checkpointing::waits(output::Session& session) {
  if (!pipeline_->is_pending()) return false;
  const bool samples_wait = session.waits_to_flush();  // looked at in any case: it advances
  return !pipeline_->ready() || (samples_wait && pipeline_->needs_samples());
}

/// Runs what may fail on all ranks alike, and holds the computation up meanwhile. Waiting for samples counts
/// as cost of output, not of the checkpoint.
void Checkpointing::try_to(StepIndex step, const output::Session& session,
                           const std::function<void()>& action) {
  const double start_s = monotonic_s(), waited_s = session.waited_s();
  const double packed_s = log_.total(trace::Kind::pack).seconds;
  const trace::Scope scope(log_, trace::Kind::checkpoint, step);
  try {
    action();
  } catch (const Error& error) {
    if (!options_.goes_on || error.info().rank < 0) throw;
    if (comm_.is_root())
      warnings_.push_back(fmt::format("a checkpoint was left out: {}", error.info().message));
  }
  account_.stalled_s += monotonic_s() - start_s - (session.waited_s() - waited_s);
  account_.pack_s += log_.total(trace::Kind::pack).seconds - packed_s;
}

void Checkpointing::take(StepIndex step, const checkpoint::StateFunction& state, output::Session& session) {
  const double start_s = monotonic_s();
  const checkpoint::Origin origin{.simulation = context_.simulation,
                                  .program = context_.program,
                                  .step = step,
                                  .time_s = context_.time_s(step)};
  pipeline_->take(origin, state);
  taken_step_ = step;
  session.start_flush();
  schedule_.mark_taken(step, now_s(), monotonic_s() - start_s);
}

/// The one that the run resumed from, until two newer ones are there.
std::optional<StepIndex> Checkpointing::kept() const noexcept {
  if (context_.from > 0 && complete_ == 0) return context_.from;
  return {};
}

/// Removes old ones; what is in the way of that harms no checkpoint. On the root, perhaps asynchronously:
/// between a name and `mark_complete`.
void Checkpointing::prune() {
  try {
    left_ = checkpoint::prune_checkpoints(context_.directory, options_.keep, kept());
  } catch (const Error& error) {
    left_ = {error.info().message};
  }
}

/// One more has its name in the directory.
void Checkpointing::mark_complete() {
  ++complete_;
  for (const auto& left : left_)
    warnings_.push_back(fmt::format("an old checkpoint cannot be removed: {}", left));
  left_.clear();
}

/// Ends the stage that one is in. The samples that were taken before the state must be safe before it counts.
void Checkpointing::advance(output::Session& session) {
  const auto [safe_bytes, named] = pipeline_->advance([&] { session.flush_until(taken_step_); });
  if (safe_bytes) {
    ++account_.taken;
    account_.bytes += *safe_bytes;
  }
  if (named) mark_complete();
}

/// Ends as many stages as make room for another one.
void Checkpointing::make_room(StepIndex step, output::Session& session) {
  try_to(step, session, [&] {
    while (pipeline_->is_busy()) advance(session);
  });
}

/// Ends the stage that one is in if no rank would wait for that, or makes room for another (`due`).
void Checkpointing::help_on(StepIndex step, bool due, bool none_waits, output::Session& session) {
  if (due && pipeline_->is_busy())
    make_room(step, session);
  else if (none_waits && pipeline_->is_pending())
    try_to(step, session, [&] { advance(session); });
}

void Checkpointing::after_step(StepIndex step, bool asked, bool none_waits,
                               const checkpoint::StateFunction& state, output::Session& session) {
  const bool due = asked || schedule_.is_due_by_steps(step);
  help_on(step, due, none_waits, session);
  if (due) try_to(step, session, [&] { take(step, state, session); });
}

/// What is on its way comes to its end.
void Checkpointing::complete_pending(StepIndex step, output::Session& session) {
  if (pipeline_->is_busy()) make_room(step, session);
  while (pipeline_->is_pending()) try_to(step, session, [&] { advance(session); });
}

void Checkpointing::take_last(StepIndex step, const checkpoint::StateFunction& state,
                              output::Session& session) {
  complete_pending(step, session);
  const auto complete_before = complete_;
  try_to(step, session, [&] {
    take(step, state, session);
    pipeline_->want_name();
  });
  complete_pending(step, session);
  if (complete_ > complete_before) pipeline_->clear();
}

void Checkpointing::finish(StepIndex step, output::Session& session) {
  complete_pending(step, session);
  pipeline_->clear();
}

}  // namespace tailrace::run
