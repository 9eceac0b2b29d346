// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/placement.hpp"
#include "mpi/message.hpp"
#include "output/strategies/io_servers.hpp"
#include "output/strategies/server_session.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::output {

/// Describes which of the processes of a job one that writes is, counted after those that compute, and where
/// it runs.
struct ServerIdentity {
  int process = 0, processes = 0;
  ThreadPlacement thread_placement;
  SinkFactory create_sink;  ///< with which it joins files
};

/// The life of a process that writes for others. Its main thread moves messages, all the time; a second one
/// writes, and makes no MPI call. What has come in while a batch was being written is the next batch, so
/// that the samples of neighbours leave in one pass over the file.
class IoServer {
 public:
  /// The first `compute_ranks` of `comm` compute, the others write. Both threads of the process go to its
  /// thread placement. @local
  IoServer(mpi::CommView comm, int compute_ranks, const ServerIdentity& server);
  ~IoServer();
  IoServer(const IoServer&) = delete;
  IoServer& operator=(const IoServer&) = delete;

  /// Serves until every rank that it serves has said that nothing comes any more.
  void run();

 private:
  /// A job that is here, or whose bytes are on their way.
  struct Job {
    int rank;
    std::int64_t number;
    ServedSession* session;
    Member* member;
    Lease staging;
    std::vector<mpi::Request> requests;
  };
  struct Batch {
    ServedSession* session = nullptr;
    std::vector<Job> jobs;
    Account cost;
    std::optional<ErrorInfo> failure;
  };
  struct Outgoing {
    std::vector<std::byte> answer;
    mpi::Request request;
  };

  // The main thread. Each of these returns whether it has moved anything.
  bool move();
  bool take_commands();
  bool take_arrivals();
  bool hand_over();
  bool take_back();
  bool report();
  bool send_answers();

  void take(int rank, std::span<const std::byte> command);
  void open(int rank, wire::OpenRequest request);
  void take_job(int rank, Unpacker& message);
  void close(int rank, std::int64_t session);
  [[nodiscard]] bool worth_waiting(const ServedSession& session) const;
  void answer(const Batch& batch);
  void answer(int rank, Packer packer);
  [[nodiscard]] bool over() const noexcept;
  void report_time(int rank);
  void begin_trace(const wire::TraceRequest& request);
  WriterAccount account(const trace::ClockPoint& point);

  // The second thread.
  void work();
  void write(Batch& batch);

  mpi::CommView comm_;
  mpi::Comm self_;
  int process_, processes_, members_ = 0, ended_ = 0;
  SinkFactory create_sink_;
  std::map<std::int64_t, std::unique_ptr<ServedSession>> sessions_;
  std::deque<Job> arriving_, ready_;
  double ready_since_s_ = 0, last_write_s_ = 0;
  std::deque<Outgoing> answers_;
  std::deque<std::pair<int, trace::ClockPoint>> reports_;
  trace::Clock clock_;
  std::optional<trace::Recorder> recorder_;
  WriterAccount account_;
  trace::Log log_{"writer"};

  std::optional<Batch> batch_;  ///< with the second thread from `handed_over_` until `written_`
  std::mutex mutex_;
  std::condition_variable wake_;
  bool handed_over_ = false, ending_ = false;
  std::atomic<bool> written_ = false;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace tailrace::output
