#include "tailrace/run/checkpointing.hpp"

#include <fmt/format.h>

#include "tailrace/base/error.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/checkpoint/store.hpp"
#include "tailrace/mpi/verdict.hpp"

namespace tailrace::run {

void read_checkpoint(CaseFile& file, CheckpointOptions& options) {
  constexpr int most_kept = 1000;
  constexpr double longest_s = 1e9;
  options.rules = {.every_steps = file.integer("checkpoint.every", {1, std::int64_t{1} << 40}),
                   .every_s = file.real("checkpoint.every_s", {1e-3, longest_s}),
                   .mtbf_s = file.real("checkpoint.mtbf_s", {1, longest_s})};
  if (const auto keep = file.integer("checkpoint.keep", {1, most_kept}))
    options.keep = static_cast<int>(*keep);
  if (const auto buffers = file.text("checkpoint.buffers"))
    file.try_to([&] {
      options.buffer_bytes = static_cast<std::int64_t>(parse_bytes(*buffers, "checkpoint.buffers"));
    });
  if (const auto policy = file.text("checkpoint.on_failure")) {
    if (*policy != "warn" && *policy != "stop")
      file.add_problem("checkpoint.on_failure", fmt::format("\"{}\" is not known", *policy),
                       "\"warn\" or \"stop\"");
    options.goes_on = *policy != "stop";
  }
}

void set_checkpoint_defaults(CaseFile& file, const CheckpointOptions& options) {
  file.set_default("checkpoint.keep", fmt::format("{}", options.keep));
  file.set_default("checkpoint.buffers", fmt::format("{}B", options.buffer_bytes));
  file.set_default("checkpoint.on_failure", options.goes_on ? "warn" : "stop");
}

bool Checkpointing::wants() const noexcept {
  return comm_.is_root() && schedule_.is_due_by_clock(now_s());
}

bool Checkpointing::waits(output::Session& session) {
  if (!saving_) return false;
  const bool samples_wait = session.waits_to_drain();  // looked at in any case: it lets go on
  return !saving_->ready() || (samples_wait && !saving_->is_sealed());
}

/// Runs what may fail on all ranks alike.
void Checkpointing::try_to(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    saving_.reset();
    if (!options_.goes_on || error.info().rank < 0) throw;
    if (comm_.is_root())
      warnings_.push_back(fmt::format("a checkpoint was left out: {}", error.info().message));
  }
}

void Checkpointing::take(StepIndex step, const checkpoint::StateFunction& state, output::Session& session) {
  const double start_s = monotonic_s();
  const trace::Scope scope(log_, trace::Kind::checkpoint, step);
  saving_ = std::make_unique<checkpoint::Saving>(comm_, context_.directory,
                                                 checkpoint::Origin{.simulation = context_.simulation,
                                                                    .program = context_.program,
                                                                    .step = step,
                                                                    .time_s = context_.time_s(step)},
                                                 state, context_.write, options_.buffer_bytes, log_);
  session.start_drain();
  const double cost_s = monotonic_s() - start_s;
  schedule_.note_taken(step, now_s(), cost_s);
  account_.held_up_s += cost_s;
}

/// Removes old ones; what is in the way of that harms no checkpoint.
void Checkpointing::prune(std::optional<StepIndex> kept) {
  try {
    left_ = checkpoint::prune_checkpoints(context_.directory, options_.keep, kept);
  } catch (const Error& error) {
    left_ = {error.info().message};
  }
}

/// The samples that were taken before the state must be safe before the state has its name.
void Checkpointing::seal(output::Session& session) {
  const double start_s = monotonic_s();
  const trace::Scope scope(log_, trace::Kind::checkpoint, saving_->step());
  session.drain_until(saving_->step());
  std::optional<StepIndex> kept;  // until two newer ones are there
  if (context_.from > 0 && account_.taken == 0) kept = context_.from;
  saving_->seal([this, kept] { prune(kept); });
  account_.held_up_s += monotonic_s() - start_s;
}

/// Waits until it has its name.
void Checkpointing::commit(output::Session& session) {
  if (!saving_->is_sealed()) seal(session);
  const double start_s = monotonic_s();
  const trace::Scope scope(log_, trace::Kind::checkpoint, saving_->step());
  saving_->finish();
  ++account_.taken;
  account_.bytes += saving_->bytes();
  saving_.reset();
  for (const auto& left : left_)
    warnings_.push_back(fmt::format("an old checkpoint cannot be removed: {}", left));
  left_.clear();
  account_.held_up_s += monotonic_s() - start_s;
}

void Checkpointing::after_step(StepIndex step, bool asked, bool none_waits,
                               const checkpoint::StateFunction& state, output::Session& session) {
  const bool due = asked || schedule_.is_due_by_steps(step);
  if (saving_ && (due || (none_waits && saving_->is_sealed())))
    try_to([&] { commit(session); });
  else if (saving_ && none_waits)
    try_to([&] { seal(session); });
  if (due) try_to([&] { take(step, state, session); });
}

void Checkpointing::take_last(StepIndex step, const checkpoint::StateFunction& state,
                              output::Session& session) {
  finish(session);
  try_to([&] {
    take(step, state, session);
    commit(session);
  });
}

void Checkpointing::finish(output::Session& session) {
  if (saving_) try_to([&] { commit(session); });
}

}  // namespace tailrace::run
