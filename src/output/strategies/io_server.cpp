// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/io_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/system.hpp"
#include "output/core/background_thread.hpp"

namespace tailrace::output {

namespace {

/// Returns what a job gets of the cost of its batch: in proportion to its bytes, where there are any.
double share_of(std::int64_t bytes, std::int64_t all_bytes, std::size_t jobs) noexcept {
  return all_bytes > 0 ? static_cast<double>(bytes) / static_cast<double>(all_bytes)
                       : 1 / static_cast<double>(jobs);
}

/// Bytes of the values of a job.
std::int64_t bytes_of(const Staging& job, std::span<const Share* const> shares) noexcept {
  std::int64_t bytes = 0;
  for (const auto& staged_extent : job.staged_extents)
    bytes +=
        staged_extent.count * static_cast<std::int64_t>(h5::size_bytes(shares[staged_extent.share]->type));
  return bytes;
}

}  // namespace

IoServer::IoServer(mpi::CommView comm, int compute_ranks, const ServerIdentity& server)
    : comm_(comm),
      self_(mpi::Comm::duplicate(mpi::CommView::self())),
      process_(server.process),
      processes_(server.processes),
      create_sink_(server.create_sink) {
  const int writers = comm.size() - compute_ranks;
  for (int rank = 0; rank < compute_ranks; ++rank)
    members_ += compute_ranks + wire::writer_of(rank, compute_ranks, writers) == comm.rank();
  clock_ = trace::Clock::of_rank(process_);
  account_.process = process_;
  account_.host = host_name();
  account_.cpus = to_text(server.thread_placement.writing);
  account_.place = to_text(server.thread_placement.place);
  bind_thread(server.thread_placement.writing);
  thread_ = start_background_thread(server.thread_placement.writing, [this] { work(); });
}

IoServer::~IoServer() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
}

void IoServer::run() {
  Backoff backoff;
  while (!over()) {
    const double start_s = monotonic_s(), start_cpu_s = thread_cpu_s();
    if (move()) {
      backoff = {};
      continue;
    }
    backoff.pause();
    if (!arriving_.empty() || batch_) continue;
    account_.idle_s += monotonic_s() - start_s;
    account_.idle_cpu_s += thread_cpu_s() - start_cpu_s;
  }
}

bool IoServer::move() {
  bool moved = take_commands();
  moved = take_arrivals() || moved;
  moved = take_back() || moved;
  moved = hand_over() || moved;
  moved = report() || moved;
  return send_answers() || moved;
}

bool IoServer::over() const noexcept {
  return ended_ == members_ && arriving_.empty() && ready_.empty() && !batch_ && answers_.empty() &&
         reports_.empty();
}

bool IoServer::take_commands() {
  bool any = false;
  while (const auto arrival = mpi::find_arrival(comm_, wire::command_tag)) {
    take(arrival->source, mpi::receive(*arrival));
    any = true;
  }
  return any;
}

void IoServer::take(int rank, std::span<const std::byte> command) {
  Unpacker message(command);
  switch (message.get<wire::Command>()) {
    case wire::Command::open:
      return open(rank, wire::read<wire::OpenRequest>(message));
    case wire::Command::job:
      return take_job(rank, message);
    case wire::Command::close:
      return close(rank, message.get<std::int64_t>());
    case wire::Command::report:
      reports_.emplace_back(rank, message.get<trace::ClockPoint>());
      return;
    case wire::Command::clock:
      return report_time(rank);
    case wire::Command::trace:
      return begin_trace(wire::read<wire::TraceRequest>(message));
    case wire::Command::end:
      ++ended_;
  }
}

void IoServer::open(int rank, wire::OpenRequest request) {
  Packer packer;
  packer.put(wire::Answer::opened);
  packer.put(request.session);
  try {
    auto& session = sessions_[request.session];
    if (!session) session = std::make_unique<ServedSession>(self_, request, process_, create_sink_);
    session->members().try_emplace(rank, std::move(request));
  } catch (...) {
    ErrorInfo error = describe_current_exception();
    error.rank = process_;
    wire::put(packer, error);
  }
  answer(rank, std::move(packer));
}

void IoServer::take_job(int rank, Unpacker& message) {
  const auto head = message.get<wire::JobHead>();
  ServedSession& session = *sessions_.at(head.session);
  Member& member = session.members().at(rank);
  Job& job = arriving_.emplace_back(Job{rank, head.number, &session, &member, member.take_slot(), {}});
  Staging& staging = *job.staging;
  TAILRACE_CHECK(head.bytes <= staging.bytes.size(), "a job fits into the room that was asked for");
  staging.used = head.bytes;
  staging.step = head.step;
  if (head.has_commit_mark) staging.commit_mark = head.commit_mark;
  staging.flush = head.flush;
  message.get(staging.staged_extents);
  for (const auto part : wire::parts_of(staging.bytes.first(staging.used)))
    job.requests.push_back(mpi::start_receive(comm_, part, rank, wire::payload_tag));
}

void IoServer::close(int rank, std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (found->second) found->second->members().erase(rank);
  if (!found->second || found->second->members().empty()) sessions_.erase(found);
}

/// Jobs whose bytes are here become ready, those of a rank one after the other.
bool IoServer::take_arrivals() {
  std::set<const Member*> behind;
  bool any = false;
  for (auto job = arriving_.begin(); job != arriving_.end();) {
    if (behind.contains(job->member) || !mpi::test_all(job->requests)) {
      behind.insert(job->member);
      ++job;
      continue;
    }
    if (ready_.empty()) ready_since_s_ = monotonic_s();
    ++job->member->ready;
    ready_.push_back(std::move(*job));
    job = arriving_.erase(job);
    ++account_.jobs;
    any = true;
  }
  return any;
}

/// Returns whether the jobs of other ranks should come first, with which those that are here make larger
/// writes: for no longer than the last batch took to write, so that nothing waits for ranks that send
/// nothing.
bool IoServer::worth_waiting(const ServedSession& session) const {
  constexpr double longest_s = 10e-3;
  return !session.failure && !session.is_complete() &&
         monotonic_s() - ready_since_s_ < std::min(last_write_s_, longest_s);
}

bool IoServer::hand_over() {
  if (batch_ || ready_.empty() || worth_waiting(*ready_.front().session)) return false;
  Batch& batch = batch_.emplace();
  batch.session = ready_.front().session;
  std::deque<Job> others;
  for (auto& job : ready_) {
    const bool taken = job.session == batch.session;
    if (taken) --job.member->ready;
    if (taken)
      batch.jobs.push_back(std::move(job));
    else
      others.push_back(std::move(job));
  }
  ready_ = std::move(others);
  ready_since_s_ = monotonic_s();
  batch.failure = batch.session->failure;
  {
    const std::scoped_lock lock(mutex_);
    handed_over_ = true;
  }
  wake_.notify_one();
  return true;
}

bool IoServer::take_back() {
  if (!batch_ || !written_) return false;
  written_ = false;
  if (!batch_->session->failure) batch_->session->failure = batch_->failure;
  last_write_s_ = batch_->cost.write_s;
  account_.output += batch_->cost;
  ++account_.batches;
  answer(*batch_);
  batch_.reset();
  return true;
}

void IoServer::answer(const Batch& batch) {
  std::int64_t all_bytes = 0;
  for (const auto& job : batch.jobs) all_bytes += bytes_of(*job.staging, job.member->shares());
  bool first = true;
  for (const auto& job : batch.jobs) {
    wire::JobDone done{.number = job.number,
                       .written = !batch.failure,
                       .left_out = batch.cost.dropped_bytes > 0};  // together with its batch
    const std::int64_t bytes = bytes_of(*job.staging, job.member->shares());
    const double share = share_of(bytes, all_bytes, batch.jobs.size());
    done.write_s = batch.cost.write_s * share;
    done.write_cpu_s = batch.cost.write_cpu_s * share;
    if (std::exchange(first, false)) {
      done.writes = batch.cost.writes;
      done.retries = batch.cost.retries;
      done.dropped_bytes = batch.cost.dropped_bytes;
    }
    if (!batch.failure) done.bytes = bytes;
    Packer packer;
    packer.put(wire::Answer::done);
    packer.put(batch.session->id());
    packer.put(done);
    if (batch.failure) wire::put(packer, *batch.failure);
    answer(job.rank, std::move(packer));
  }
}

void IoServer::answer(int rank, Packer packer) {
  Outgoing& outgoing = answers_.emplace_back(Outgoing{packer.take(), mpi::Request::none});
  outgoing.request = mpi::start_send(comm_, outgoing.answer, rank, wire::answer_tag);
}

bool IoServer::send_answers() {
  return std::erase_if(answers_,
                       [](Outgoing& outgoing) { return mpi::test_all(std::span(&outgoing.request, 1)); }) > 0;
}

void IoServer::report_time(int rank) {
  Packer packer;
  packer.put(wire::Answer::clock);
  wire::put(packer, wire::ClockReading{.now_s = clock_.now_s(), .identity = clock_.identity()});
  answer(rank, std::move(packer));
}

/// A trace that cannot be written is no reason not to write samples.
void IoServer::begin_trace(const wire::TraceRequest& request) {
  try {
    const auto path = fmt::format("{}/trace/rank-{:05}.trace", request.directory, process_);
    recorder_.emplace(path, trace::Identity{process_, processes_, trace::Role::writer}, clock_, request.mode);
    recorder_->add(request.point);
  } catch (const Error& error) {
    account_.warning = error.info().message;
  }
}

/// Answers those who ask for the account, once nothing is being written.
bool IoServer::report() {
  if (reports_.empty() || batch_) return false;
  const auto [rank, point] = std::move(reports_.front());
  reports_.pop_front();
  Packer packer;
  packer.put(wire::Answer::report);
  wire::put(packer, account(point));
  answer(rank, std::move(packer));
  return true;
}

WriterAccount IoServer::account(const trace::ClockPoint& point) {
  if (recorder_) {
    recorder_->add(point);
    if (const auto failure = recorder_->close()) account_.warning = failure->message;
    recorder_.reset();
  }
  account_.peak_memory_bytes = peak_memory_bytes();
  return account_;
}

void IoServer::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || handed_over_; });
      if (!handed_over_) return;
      handed_over_ = false;
    }
    write(*batch_);
    written_ = true;
  }
}

void IoServer::write(Batch& batch) {
  if (batch.failure) return;  // after a failure jobs are dropped
  std::vector<JobView> jobs;
  for (const auto& job : batch.jobs) jobs.push_back(view_of(*job.staging, job.member->shares()));
  try {
    run_jobs(jobs, batch.session->sink(), batch.cost, log_);
  } catch (...) {
    batch.failure = describe_current_exception();
    batch.failure->rank = process_;
  }
}

}  // namespace tailrace::output
