// SPDX-License-Identifier: BSD-3-Clause
#include "segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "mpi/verdict.hpp"
#include "output/session/session.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

/// Returns whether two names represent one file, or would.
static bool is_same_place(const std::string& a, const std::string& b) {
  std::error_code code;
  const auto first = std::filesystem::weakly_canonical(a, code),
             second = std::filesystem::weakly_canonical(b, code);
  return first == second;
}

/// The checkpoint must not write over the files of the run.
void Segment::check_names() const {
  for (const auto& other : {options_.input, options_.output})
    if (is_same_place(file(), other))
      throw Error(
          ErrorInfo{.kind = ErrorKind::usage,
                    .message = fmt::format("{}: the checkpoint would replace a file of the run", other),
                    .path = other,
                    .hint = "choose another --checkpoint_file"});
}

void Segment::begin(const CheckpointOrigin& origin, const Grid& grid, StepIndex steps,
                    const std::vector<output::Stream>& streams) {
  origin_ = origin;
  planned_ = steps;
  if (!options_.kwave_checkpoint) return;
  bool exists = false;
  mpi::collectively_on_root(comm_, [&] {
    check_names();
    std::error_code code;
    exists = std::filesystem::exists(file(), code);
  });
  if (mpi::max(comm_, std::int64_t{exists}) == 0) return;
  header_ = inspect_checkpoint(comm_, file(), grid.points, steps);
  reduces_ = std::any_of(streams.begin(), streams.end(), [](const output::Stream& stream) {
    return stream.reduction != output::Reduction::none && stream.reduction != output::Reduction::final;
  });
  earlier_ = inspect_left_output(comm_, options_.output, *header_, grid, steps, reduces_);
}

output::Resume Segment::resume() const {
  if (!resumes()) return {};
  return {.after = header_->step, .accumulators = header_->has_reductions ? file() : ""};
}

StepIndex Segment::read_state(const std::vector<StateArray>& state) const {
  read_checkpoint(comm_, file(), state);
  return header_->step;
}

void Segment::adopt(const ArraySource& arrays, output::Session& session) const {
  if (resumes() && reduces_ && !header_->has_reductions) save(header_->step, arrays, session);
}

run::StepSpan Segment::steps() const noexcept {
  const StepIndex done = resumes() ? header_->step : 0;
  StepIndex last = planned_;
  if (options_.kwave_checkpoint && options_.kwave_checkpoint->timesteps)
    last = done + std::min(planned_ - done, *options_.kwave_checkpoint->timesteps);
  return {.done = done, .last = last, .planned = planned_};
}

PhaseTimes Segment::add_up(const PhaseTimes& mine) const noexcept {
  return {.loading = earlier_.loading + mine.loading,
          .preparation = earlier_.preparation + mine.preparation,
          .simulation = earlier_.simulation + mine.simulation,
          .finishing = earlier_.finishing + mine.finishing};
}

bool Segment::stops(const run::DriveResult& result) const noexcept {
  return options_.kwave_checkpoint && result.status != run::Status::failed && result.steps_done < planned_;
}

void Segment::save(StepIndex step, const ArraySource& arrays, output::Session& session) const {
  session.flush_all();
  arrays([&](const std::vector<StateArray>& all) {
    write_checkpoint(comm_, file(), origin_, step, all,
                     {session.accumulator_streams(all.size()), session.running_reductions()}, options_.write);
  });
}

void Segment::remove() const {
  if (!options_.kwave_checkpoint) return;
  mpi::collectively_on_root(comm_, [&] {
    std::error_code code;
    std::filesystem::remove(file(), code);
    if (code)
      throw Error(
          ErrorInfo{.kind = ErrorKind::io,
                    .message = fmt::format("{}: the checkpoint of the finished run cannot be removed: {}",
                                           file(), code.message()),
                    .path = file(),
                    .hint = "remove it, or the next run would resume from it"});
  });
}

}  // namespace tailrace::ultrasound
