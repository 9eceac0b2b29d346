// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/server_connection.hpp"

#include <algorithm>

#include "base/system.hpp"
#include "mpi/message.hpp"

namespace tailrace::output {

Connection::Connection(mpi::CommView comm, int compute_ranks)
    : comm_(comm),
      compute_ranks_(compute_ranks),
      writer_(compute_ranks + wire::writer_of(comm.rank(), compute_ranks, comm.size() - compute_ranks)) {}

void Connection::post(std::vector<std::byte> command, int writer) {
  Posted& posted = posted_.emplace_back(Posted{std::move(command), mpi::Request::none});
  posted.request = mpi::start_send(comm_, posted.command, writer, wire::command_tag);
}

bool Connection::all_left() {
  std::erase_if(posted_, [](Posted& posted) { return mpi::test_all(std::span(&posted.request, 1)); });
  return posted_.empty();
}

void Connection::progress() {
  all_left();
  while (const auto arrival = mpi::find_arrival(comm_, wire::answer_tag)) take(mpi::receive(*arrival));
}

void Connection::take(std::span<const std::byte> answer) {
  Unpacker unpacker(answer);
  const auto kind = unpacker.get<wire::Answer>();
  if (kind == wire::Answer::report) return wire::get(unpacker, accounts_.emplace_back());
  if (kind == wire::Answer::clock) return wire::get(unpacker, reading_.emplace());
  const auto listener = listeners_.find(unpacker.get<std::int64_t>());
  if (listener != listeners_.end()) listener->second->take(kind, unpacker);
}

wire::ClockReading Connection::read_clock(int writer) {
  Packer packer;
  packer.put(wire::Command::clock);
  reading_.reset();
  post(packer.take(), writer);
  for (Backoff backoff; !reading_; backoff.pause()) progress();
  return *reading_;
}

/// As `run::ClockComparison` does it between ranks: the shortest of several round trips says the most.
trace::ClockPoint Connection::compare_clock(int writer) {
  constexpr int round_trips = 20;
  trace::ClockPoint best{.zero_s = zero_s_};
  for (int i = 0; i < round_trips; ++i) {
    const double before_s = clock_.now_s();
    const auto reading = read_clock(writer);
    const double after_s = clock_.now_s(), error_s = (after_s - before_s) / 2;
    const bool same_clock = reading.identity == clock_.identity();
    if (i > 0 && error_s >= best.error_s) continue;
    best.local_s = reading.now_s;
    best.offset_s = same_clock ? 0 : before_s + error_s - reading.now_s;
    best.error_s = same_clock ? 0 : error_s;
    if (same_clock) break;
  }
  return best;
}

void Connection::begin_traces(const std::string& directory, trace::Mode mode, const trace::Clock& clock,
                              double zero_s) {
  clock_ = clock;
  zero_s_ = zero_s;
  for (int writer = compute_ranks_; writer < comm_.size(); ++writer) {
    Packer packer;
    packer.put(wire::Command::trace);
    wire::put(packer,
              wire::TraceRequest{.directory = directory, .mode = mode, .point = compare_clock(writer)});
    post(packer.take(), writer);
  }
}

std::vector<WriterAccount> Connection::report() {
  accounts_.clear();
  for (int writer = compute_ranks_; writer < comm_.size(); ++writer) {
    Packer packer;
    packer.put(wire::Command::report);
    packer.put(compare_clock(writer));
    post(packer.take(), writer);
  }
  for (Backoff backoff; accounts_.size() < static_cast<std::size_t>(writers()); backoff.pause()) progress();
  std::sort(accounts_.begin(), accounts_.end(),
            [](const auto& a, const auto& b) { return a.process < b.process; });
  return accounts_;
}

void Connection::end() {
  Packer packer;
  packer.put(wire::Command::end);
  post(packer.take());
  for (Backoff backoff; !all_left(); backoff.pause()) continue;
}

}  // namespace tailrace::output
