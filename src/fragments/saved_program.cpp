// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/saved_program.hpp"

#include <fmt/format.h>

#include "base/system.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "tailrace/error.hpp"

namespace tailrace::fragments {

namespace {
const std::string simulation = "fragments";
}  // namespace

SavedProgram::SavedProgram(mpi::CommView comm, std::string program, const CheckpointOptions& options)
    : comm_(comm),
      program_(std::move(program)),
      options_(options),
      schedule_(options.rules),
      start_s_(monotonic_s()) {}

Wish SavedProgram::wish(std::int64_t executed) {
  constexpr std::uint64_t looks_per_clock = 16;
  executed_ = executed;
  if (options_.stops && options_.stops()) return Wish::stop;
  if (options_.asks && options_.asks()) return Wish::checkpoint;
  if (schedule_.is_due_by_steps(executed)) return Wish::checkpoint;
  if (!comm_.is_root() || looks_++ % looks_per_clock != 0) return Wish::none;
  return schedule_.is_due_by_clock(monotonic_s() - start_s_) ? Wish::checkpoint : Wish::none;
}

void SavedProgram::write(const checkpoint::StateFunction& state, StepIndex step) {
  const checkpoint::Origin origin{
      .simulation = simulation, .program = program_, .step = step, .time_s = monotonic_s() - start_s_};
  checkpoint::Saving saving(comm_, options_.directory, origin, state, output::WriteOptions(),
                            options_.packing, log_);
  saving.seal([this] {
    for (const auto& left : checkpoint::prune_checkpoints(options_.directory, options_.keep))
      warnings_.push_back(fmt::format("an old checkpoint cannot be removed: {}", left));
  });
  saving.finish();
  ++taken_;
}

void SavedProgram::save(const checkpoint::StateFunction& state, std::int64_t executed, bool stops) {
  const double start_s = monotonic_s();
  const auto step = mpi::sum(comm_, executed);
  try {
    write(state, step);
  } catch (const Error& error) {
    if (stops || error.info().rank < 0) throw;
    if (comm_.is_root())
      warnings_.push_back(fmt::format("a checkpoint was left out: {}", error.info().message));
  }
  const double end_s = monotonic_s();
  saved_s_ += end_s - start_s;
  schedule_.mark_taken(executed_, end_s - start_s_, end_s - start_s);
}

bool SavedProgram::restore(const checkpoint::StateFunction& state) {
  if (!options_.resume) return false;
  const auto restored = checkpoint::restore_newest(comm_, options_.directory, simulation, state);
  if (comm_.is_root()) warnings_.insert(warnings_.end(), restored.warnings.begin(), restored.warnings.end());
  return true;
}

}  // namespace tailrace::fragments
