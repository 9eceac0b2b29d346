// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "base/system.hpp"
#include "mpi/message.hpp"
#include "mpi/verdict.hpp"
#include "output/strategies/io_servers.hpp"
#include "output/strategies/server_connection.hpp"
#include "output/strategies/writers.hpp"

namespace tailrace::output {

namespace {

/// One session with one process that writes, as the rank sees it whose samples that process takes.
class SessionConnection final : public Connection::Listener {
 public:
  using Answered = std::function<void(const wire::JobDone&)>;

  /// @collective{context.comm}
  SessionConnection(const WriterContext& context, Connection& connection, Answered answered)
      : connection_(connection), answered_(std::move(answered)), session_(connection.next_session()) {
    mpi::broadcast_bytes(context.comm, std::as_writable_bytes(std::span(&session_, 1)), 0);
    connection_.listen(session_, this);
  }
  SessionConnection(const SessionConnection&) = delete;
  SessionConnection& operator=(const SessionConnection&) = delete;
  ~SessionConnection() override {
    Packer packer;
    packer.put(wire::Command::close);
    packer.put(session_);
    connection_.post(packer.take());
    connection_.leave(session_);
  }

  /// Waits for the answer. @local. Errors: those of the writer.
  void open(const WriterContext& context) {
    wire::OpenRequest request{.session = session_,
                              .sources = context.comm.size(),
                              .source = context.comm.rank(),
                              .staging_bytes = context.staging_bytes,
                              .path = context.path,
                              .options = context.options,
                              .streams = context.plan->streams,
                              .shares = {}};
    for (const auto* share : context.shares) request.shares.push_back(*share);
    Packer packer;
    packer.put(wire::Command::open);
    wire::put(packer, request);
    connection_.post(packer.take());
    for (Backoff backoff; !opened_; backoff.pause()) progress();
    if (failure_) throw Error(*failure_);
  }

  void progress() { connection_.progress(); }
  [[nodiscard]] bool has_room() const noexcept { return unanswered_ < wire::slots; }
  [[nodiscard]] bool idle() const noexcept { return unanswered_ == 0; }
  [[nodiscard]] const std::optional<ErrorInfo>& failure() const noexcept { return failure_; }

  /// Starts to send a job, which stays as it is until the requests are complete, as does the head that it
  /// returns. With `rows` the writer sets the commit mark in the file.
  std::vector<std::byte> send(const Staging& job, std::int64_t number, bool rows, bool synchronous,
                              std::vector<mpi::Request>& requests) {
    Packer packer;
    packer.put(wire::Command::job);
    packer.put(wire::JobHead{.session = session_,
                             .number = number,
                             .bytes = job.used,
                             .step = job.step,
                             .commit_mark = job.commit_mark.value_or(0),
                             .has_commit_mark = rows && job.commit_mark.has_value(),
                             .flush = job.flush});
    packer.put(job.staged_extents);
    auto head = packer.take();
    const auto comm = connection_.comm();
    const int to = connection_.writer();
    requests.push_back(mpi::start_send(comm, head, to, wire::command_tag));
    const std::span<const std::byte> bytes = job.bytes.first(job.used);
    for (const auto part : wire::parts_of(bytes))
      requests.push_back(synchronous ? mpi::start_synchronous_send(comm, part, to, wire::payload_tag)
                                     : mpi::start_send(comm, part, to, wire::payload_tag));
    ++unanswered_;
    return head;
  }

 private:
  void take(wire::Answer kind, Unpacker& answer) override {
    if (kind == wire::Answer::opened) opened_ = true;
    if (kind == wire::Answer::done) {
      --unanswered_;
      answered_(answer.get<wire::JobDone>());
    }
    if (!answer.empty() && !failure_) wire::get(answer, failure_.emplace());
  }

  Connection& connection_;
  Answered answered_;
  std::int64_t session_;
  bool opened_ = false;
  int unanswered_ = 0;
  std::optional<ErrorInfo> failure_;
};

/// Sends the jobs to processes that do not compute: to one, or to several in turns, each snapshot from all
/// ranks to the same. At most as many are under way as those processes have room for; further ones wait here
/// in their buffers, so that neither their memory nor MPI's grows.
class RemoteWriter final : public Writer {
 public:
  RemoteWriter(const WriterContext& context, const std::vector<Connection*>& connections, bool waits)
      : sink_(context.sink),
        plan_(*context.plan),
        source_(context.comm.rank()),
        reached_(context.reached),
        log_(context.log),
        waits_(waits),
        takes_turns_(context.splits_samples),
        pool_(context.buffers, context.staging_bytes, context.comm.rank()) {
    const auto answered = [this](const wire::JobDone& done) { mark(done); };
    for (auto* const connection : connections)
      session_connections_.push_back(std::make_unique<SessionConnection>(context, *connection, answered));
    mpi::collectively(context.comm, [&] {
      for (const auto& session_connection : session_connections_) session_connection->open(context);
    });
  }

  ~RemoteWriter() override { flush_all(); }

  std::optional<Lease> try_acquire() override {
    progress();
    return pool_.try_acquire();
  }

  Lease acquire() override {
    std::optional<Lease> lease;
    wait_until([&] { return (lease = pool_.try_acquire()).has_value(); });
    return std::move(*lease);
  }

  void progress() override {
    for (const auto& session_connection : session_connections_) {
      session_connection->progress();
      if (session_connection->failure() && !failure_) fail(*session_connection->failure());
    }
    std::erase_if(sending_, [](Sending& job) { return mpi::test_all(job.requests); });
    while (!waiting_.empty() && has_room(waiting_.front().session_connections)) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      send(std::move(next));
    }
    conclude();
  }

  void submit(Lease job) override {
    if (failure_) return;
    auto session_connections = connections_for(*job);
    waiting_.push_back({std::move(job), std::move(session_connections)});
    if (!waits_) return progress();
    trace::Scope scope(log_, trace::Kind::output_wait, waiting_.back().job->step);
    wait_until([this] { return waiting_.empty() && sending_.empty(); });
    account_.wait_s += scope.stop();
  }

  [[nodiscard]] bool batches() const noexcept override { return !takes_turns_; }

  [[nodiscard]] bool idle() const override {
    return waiting_.empty() &&
           std::all_of(session_connections_.begin(), session_connections_.end(),
                       [](const auto& session_connection) { return session_connection->idle(); });
  }

  void flush_all() override {
    wait_until([this] { return idle() && sending_.empty(); });
  }

  [[nodiscard]] std::optional<ErrorInfo> failure() const override { return failure_; }
  [[nodiscard]] const Account& account() const noexcept override { return account_; }

 private:
  using SessionConnections = std::vector<SessionConnection*>;
  struct Waiting {
    Lease job;
    SessionConnections session_connections;
  };
  struct Sending {
    Lease job;
    std::vector<std::vector<std::byte>> heads;
    std::vector<mpi::Request> requests;
  };
  /// A job that has left and is not yet in the file, or waits for one before it.
  struct Pending {
    std::int64_t number = 0;
    std::optional<StepIndex> commit_mark;
    bool flush = false, left_out = false;
    std::size_t answers = 0;  ///< that are still to come
  };

  /// Who gets a job. Of those who take turns each has files of its own to flush.
  SessionConnections connections_for(const Staging& job) {
    if (!takes_turns_) return {session_connections_.front().get()};
    if (!job.staged_extents.empty()) return {session_connections_[turn_of(job.step)].get()};
    SessionConnections all;
    if (job.flush)
      for (const auto& session_connection : session_connections_) all.push_back(session_connection.get());
    return all;
  }

  /// The same on all ranks: the snapshots up to the step are counted.
  std::size_t turn_of(StepIndex step) noexcept {
    for (; counted_ < step; ++counted_) snapshots_ += plan_.rows(counted_ + 1) ? 1U : 0U;
    return snapshots_ % session_connections_.size();
  }

  static bool has_room(const SessionConnections& session_connections) {
    return std::all_of(
        session_connections.begin(), session_connections.end(),
        [](const SessionConnection* session_connection) { return session_connection->has_room(); });
  }

  void send(Waiting next) {
    const auto& job = *next.job;
    pending_.push_back({.number = ++jobs_,
                        .commit_mark = job.commit_mark,
                        .flush = job.flush,
                        .left_out = false,
                        .answers = next.session_connections.size()});
    if (next.session_connections.empty()) return;
    Sending& sending = sending_.emplace_back(Sending{std::move(next.job), {}, {}});
    for (auto* const session_connection : next.session_connections)
      sending.heads.push_back(
          session_connection->send(*sending.job, jobs_, !takes_turns_, waits_, sending.requests));
  }

  void mark(const wire::JobDone& done) {
    account_.bytes += done.bytes;
    account_.writes += done.writes;
    account_.retries += done.retries;
    account_.dropped_bytes += done.dropped_bytes;
    account_.write_s += done.write_s;
    account_.write_cpu_s += done.write_cpu_s;
    if (!done.written) return;
    auto& job = pending_[static_cast<std::size_t>(done.number - pending_.front().number)];
    job.left_out = job.left_out || done.left_out;
    --job.answers;
  }

  /// What all that was submitted before is in the file with counts as written.
  void conclude() {
    while (!failure_ && !pending_.empty() && pending_.front().answers == 0) {
      const Pending job = pending_.front();
      pending_.pop_front();
      if (takes_turns_) commit_mark(job);
      if (!job.commit_mark || failure_) continue;
      Staging written;
      written.commit_mark = job.commit_mark;
      written.flush = job.flush;
      reached_.mark(written);
    }
  }

  /// Where several processes write, only this rank sees when nothing is missing before a snapshot.
  void commit_mark(const Pending& job) {
    try {
      if (job.left_out) sink_.mark_dropped(source_);
      if (job.commit_mark) sink_.commit_mark(source_, *job.commit_mark);
    } catch (...) {
      fail(describe_current_exception());
    }
  }

  void fail(const ErrorInfo& failure) {
    failure_ = failure;
    waiting_.clear();
  }

  template <class Condition>
  void wait_until(const Condition& condition) {
    for (Backoff backoff;; backoff.pause()) {
      progress();
      if (condition()) return;
    }
  }

  Sink& sink_;
  const Plan& plan_;
  int source_;
  Reached& reached_;
  trace::Log& log_;
  bool waits_, takes_turns_;
  StepIndex counted_ = -1;  ///< up to which `snapshots_` counts
  std::size_t snapshots_ = 0;
  std::int64_t jobs_ = 0;
  StagingPool pool_;
  std::vector<std::unique_ptr<SessionConnection>> session_connections_;
  std::deque<Waiting> waiting_;  // for room at the writers
  std::deque<Sending> sending_;
  std::deque<Pending> pending_;
  Account account_;
  std::optional<ErrorInfo> failure_;
};

}  // namespace

std::string ranks_argument(const WriteOptions& options) {
  return fmt::format(":{}{}", options.writers, options.send_waits ? ",send" : "");
}

std::unique_ptr<Writer> make_ranks_writer(const WriterContext& context) {
  const IoServers* const io_servers = context.services.io_servers;
  const auto connections =
      io_servers == nullptr ? std::vector<Connection*>{} : io_servers->connections("ranks");
  if (connections.empty())
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = "no ranks of this job were set apart for writing",
                          .path = {},
                          .rank = 0,
                          .hint = "name the strategy ranks when the program starts"});
  return std::make_unique<RemoteWriter>(context, connections, context.options.send_waits);
}

std::unique_ptr<Writer> make_spawn_writer(const WriterContext& context) {
  IoServers* const io_servers = context.services.io_servers;
  if (io_servers == nullptr || !io_servers->start_servers(context.options, context.splits_samples)) {
    if (context.comm.is_root())
      context.warning = fmt::format(
          "--write {} cannot be done here: {}; --write {} is used instead", context.strategy,
          io_servers == nullptr ? "this program has no I/O servers" : io_servers->refusal(), spawn_fallback);
    return make_threads_writer(context);
  }
  return std::make_unique<RemoteWriter>(context, io_servers->connections(context.options.strategy), false);
}

}  // namespace tailrace::output
