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
  context_.write.memory = &memory_;
  if (context_.buffer_memory > 0) memory_.take(context_.buffer_memory);
  if (options_.local.wanted())
    levels_ = std::make_unique<checkpoint::TwoLevels>(comm_, options_.local, context_.directory,
                                                      options_.packing.compression, context_.write);
  else
    checkpoint::forget_local_level(comm_, context_.directory);
}

bool Checkpointing::wants() const noexcept {
  return comm_.is_root() && schedule_.is_due_by_clock(now_s());
}

bool Checkpointing::waits(output::Session& session) {
  if (!saving_ && !levels_) return false;
  const bool samples_wait = session.waits_to_flush();  // looked at in any case: it advances
  if (levels_) return !levels_->ready() || (samples_wait && levels_->is_local_pending());
  return !saving_->ready() || (samples_wait && !saving_->is_sealed());
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
    saving_.reset();
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
  if (levels_)
    levels_->take(origin, state);
  else
    saving_ = std::make_unique<checkpoint::Saving>(comm_, context_.directory, origin, state, context_.write,
                                                   options_.packing, log_);
  taken_step_ = step;
  session.start_flush();
  schedule_.mark_taken(step, now_s(), monotonic_s() - start_s);
}

/// The one that the run resumed from, until two newer ones are there.
std::optional<StepIndex> Checkpointing::kept() const noexcept {
  if (context_.from > 0 && complete_ == 0) return context_.from;
  return {};
}

/// Removes old ones; what is in the way of that harms no checkpoint.
void Checkpointing::prune(std::optional<StepIndex> kept) {
  try {
    left_ = checkpoint::prune_checkpoints(context_.directory, options_.keep, kept);
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

/// The samples that were taken before the state must be safe before the state has its name.
void Checkpointing::seal(output::Session& session) {
  session.flush_until(taken_step_);
  saving_->seal([this, kept = kept()] { prune(kept); });
}

/// Waits until it has its name.
void Checkpointing::commit(output::Session& session) {
  if (!saving_->is_sealed()) seal(session);
  saving_->finish();
  ++account_.taken;
  account_.bytes += saving_->bytes();
  saving_.reset();
  mark_complete();
}

/// On two levels a checkpoint counts as soon as all of it is on the nodes; the samples must be safe then.
void Checkpointing::commit_local(output::Session& session) {
  session.flush_until(taken_step_);
  account_.bytes += levels_->commit_local();
  ++account_.taken;
  levels_->start_wanted_copy();
}

void Checkpointing::commit_copy() {
  levels_->commit_copy();
  if (comm_.is_root()) prune(kept());
  mark_complete();
  levels_->start_wanted_copy();
}

/// The next step of the one on its way, if it is ready for that, or has to make room for another (`due`).
void Checkpointing::help_on(StepIndex step, bool due, bool none_waits, output::Session& session) {
  if (levels_ && levels_->is_local_pending()) {
    if (none_waits || due) try_to(step, session, [&] { commit_local(session); });
  } else if (levels_ && levels_->is_copy_pending()) {
    if (none_waits) try_to(step, session, [&] { commit_copy(); });
  } else if (saving_ && (due || (none_waits && saving_->is_sealed()))) {
    try_to(step, session, [&] { commit(session); });
  } else if (saving_ && none_waits) {
    try_to(step, session, [&] { seal(session); });
  }
}

void Checkpointing::after_step(StepIndex step, bool asked, bool none_waits,
                               const checkpoint::StateFunction& state, output::Session& session) {
  const bool due = asked || schedule_.is_due_by_steps(step);
  help_on(step, due, none_waits, session);
  if (due) try_to(step, session, [&] { take(step, state, session); });
}

/// What is on its way comes to its end.
void Checkpointing::complete_pending(StepIndex step, output::Session& session) {
  if (saving_) try_to(step, session, [&] { commit(session); });
  if (!levels_) return;
  if (levels_->is_local_pending()) try_to(step, session, [&] { commit_local(session); });
  while (levels_->is_copy_pending()) try_to(step, session, [&] { commit_copy(); });
}

void Checkpointing::take_last(StepIndex step, const checkpoint::StateFunction& state,
                              output::Session& session) {
  complete_pending(step, session);
  const auto complete_before = complete_;
  try_to(step, session, [&] {
    take(step, state, session);
    if (levels_) levels_->want_copy();
  });
  complete_pending(step, session);
  if (levels_ && complete_ > complete_before) levels_->clear();
}

void Checkpointing::finish(StepIndex step, output::Session& session) {
  complete_pending(step, session);
  if (levels_) levels_->clear();
}

}  // namespace tailrace::run
