// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/leader_work.hpp"

#include <algorithm>
#include <utility>

#include "base/system.hpp"

namespace tailrace::output {

namespace {

// Jobs wait as long as the last write took: where writing is what takes the time, that is hidden behind the
// write that would have run, and elsewhere it is short.
constexpr double min_patience_s = 1e-3, max_patience_s = 0.1;

}  // namespace

LeaderWork::LeaderWork(std::vector<GroupMember> members, LeaderBoard& board, Sink& sink, trace::Log& log)
    : board_(board), sink_(sink), log_(log), patience_s_(min_patience_s) {
  sources_.reserve(members.size());  // shares are referred to
  std::size_t bytes = 0;
  for (auto& member : members) {
    auto& source = sources_.emplace_back(Source{.member = std::move(member), .shares = {}});
    for (const auto& share : source.member.shares) {
      source.shares.push_back(&share);
      bytes += sizeof(Share) + sizeof(Share*) + share.runs.size() * sizeof(Run);
    }
    bytes += source.member.jobs.max_staged_extents() * write_bytes_per_staged_extent;
  }
  memory_bytes_ = static_cast<std::int64_t>(bytes);
}

void LeaderWork::run() {
  std::optional<double> waiting_since_s;
  for (;;) {
    const auto seen = board_.bell().value();
    const bool closing = closing_;
    look();
    const auto step = lowest_step();
    if (!step && closing) break;
    if (!step) {
      board_.bell().wait(seen);
      continue;
    }
    if (!waiting_since_s) waiting_since_s = monotonic_s();
    const double left_s = *waiting_since_s + patience_s_ - monotonic_s();
    if (!closing && left_s > 0 && worth_waiting(*step)) {
      board_.bell().wait(seen, left_s);
      continue;
    }
    waiting_since_s.reset();
    take_jobs(*step);
    write();
  }
  board_.end();
  for (auto& source : sources_) source.member.jobs.changed().raise();
}

void LeaderWork::close() noexcept {
  closing_ = true;
  board_.bell().raise();
}

void LeaderWork::look() noexcept {
  for (auto& source : sources_) source.submitted = source.member.jobs.submitted();
}

/// The step of the job that has to be written next.
std::optional<StepIndex> LeaderWork::lowest_step() const noexcept {
  std::optional<StepIndex> lowest;
  for (const auto& source : sources_)
    if (source.has_job()) lowest = std::min(lowest.value_or(source.next_step()), source.next_step());
  return lowest;
}

/// True if some member is still going to bring samples up to `step`, and nobody stalls meanwhile.
bool LeaderWork::worth_waiting(StepIndex step) const noexcept {
  if (board_.failed()) return false;
  bool more_to_come = false;
  for (const auto& source : sources_) {
    if (source.member.jobs.waiting()) return false;
    if (!source.has_job() && source.reached < step && !source.member.jobs.left()) more_to_come = true;
  }
  return more_to_come;
}

/// Takes the jobs that hold samples up to `step`: a job holds those after the job before it.
void LeaderWork::take_jobs(StepIndex step) {
  batch_.clear();
  for (auto& source : sources_)
    while (source.has_job() && (source.next_step() <= step || source.reached < step)) {
      auto& job = batch_.emplace_back(source.member.jobs.job(source.taken));
      job.shares = source.shares;
      job.source = source.member.source;
      source.reached = job.step;
      ++source.taken;
    }
}

void LeaderWork::write() {
  const double start_s = monotonic_s();
  try {
    if (!board_.failed()) run_jobs(batch_, sink_, account_, log_);
  } catch (...) {
    board_.fail(describe_current_exception());
  }
  patience_s_ = std::clamp(monotonic_s() - start_s, min_patience_s, max_patience_s);
  {
    const std::scoped_lock lock(mutex_);
    known_account_ = account_;
  }
  for (auto& source : sources_)
    if (source.taken > source.member.jobs.done()) source.member.jobs.finish(source.taken, !board_.failed());
}

Account LeaderWork::account() const {
  const std::scoped_lock lock(mutex_);
  return known_account_;
}

}  // namespace tailrace::output
