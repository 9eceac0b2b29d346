// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "output/strategies/wire.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::output {

/// A compute rank's end of the messages between it and the process that writes for it.
class Connection {
 public:
  /// Takes in what the writer answers to a session.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void take(wire::Answer kind, Unpacker& answer) = 0;
  };

  /// The first `compute_ranks` of `comm` compute, the others write. `comm` outlives the link.
  Connection(mpi::CommView comm, int compute_ranks);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_; }
  [[nodiscard]] int writers() const noexcept { return comm_.size() - compute_ranks_; }
  /// The rank in `comm` of the writer of this rank.
  [[nodiscard]] int writer() const noexcept { return writer_; }
  /// A number that no other session has, to be made on one of its ranks.
  std::int64_t next_session() noexcept { return (std::int64_t{comm_.rank()} << 32) + ++sessions_; }

  void listen(std::int64_t session, Listener* listener) { listeners_[session] = listener; }
  void leave(std::int64_t session) { listeners_.erase(session); }

  /// Sends a command; its memory stays here until it has left. @local, does not wait.
  void post(std::vector<std::byte> command) { post(std::move(command), writer_); }
  void post(std::vector<std::byte> command, int writer);
  /// Takes in answers and lets commands leave. @local, does not wait.
  void progress();
  /// Has all writers trace what they do; `clock` is that of this process, `zero_s` the common zero by it.
  /// @local, waits for answers.
  void begin_traces(const std::string& directory, trace::Mode mode, const trace::Clock& clock, double zero_s);
  /// Ends the traces and asks all writers for their accounts. @local, waits for them.
  std::vector<WriterAccount> report();
  /// Informs the writer that nothing comes any more and waits until all has left. @local
  void end();

 private:
  struct Posted {
    std::vector<std::byte> command;
    mpi::Request request;
  };

  void take(std::span<const std::byte> answer);
  trace::ClockPoint compare_clock(int writer);
  wire::ClockReading read_clock(int writer);
  bool all_left();

  mpi::CommView comm_;
  int compute_ranks_, writer_;
  std::int64_t sessions_ = 0;
  std::deque<Posted> posted_;
  std::map<std::int64_t, Listener*> listeners_;
  std::vector<WriterAccount> accounts_;
  std::optional<wire::ClockReading> reading_;
  trace::Clock clock_;
  double zero_s_ = 0;
};

}  // namespace tailrace::output
