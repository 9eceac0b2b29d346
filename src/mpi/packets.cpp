// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/packets.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <span>

#include "mpi/look_until.hpp"
#include "mpi/message.hpp"

namespace tailrace::mpi {

namespace {

constexpr int packet_tag = 0x7061;
constexpr std::size_t batch_bytes = 1U << 30;  // MPI 3.1 counts are int

thread_local Delivered sent_by_thread;

/// Describes what has come so far, in batches, by rank.
class Inbox {
 public:
  explicit Inbox(CommView comm) : comm_(comm) {}

  /// Starts to receive what has arrived; whether there was something. @local
  bool look() {
    const auto arrival = find_arrival(comm_, packet_tag);
    if (!arrival) return false;
    auto& batch = batches_[arrival->source].emplace_back(static_cast<std::size_t>(arrival->bytes));
    requests_.push_back(start_receive(*arrival, batch));
    return true;
  }

  /// The packets, after all of them have arrived. @local, waits for the rest of their bytes.
  std::vector<Packet<>> finish() {
    wait_all(requests_);
    std::vector<Packet<>> packets;
    for (auto& [rank, batches] : batches_) {
      Packet<> packet{rank, std::move(batches.front())};
      for (auto batch = std::next(batches.begin()); batch != batches.end(); ++batch)
        packet.values.insert(packet.values.end(), batch->begin(), batch->end());
      packets.push_back(std::move(packet));
    }
    return packets;
  }

 private:
  CommView comm_;
  std::map<int, std::list<std::vector<std::byte>>> batches_;
  std::vector<Request> requests_;
};

/// Starts messages that are complete when the receivers have found them.
std::vector<Request> send_all(CommView comm, const std::vector<Packet<>>& packets) {
  std::vector<Request> requests;
  for (const Packet<>& packet : packets)
    for (std::size_t done = 0; done < packet.values.size(); done += batch_bytes) {
      const auto rest = std::span(packet.values).subspan(done);
      const auto batch = rest.first(std::min(rest.size(), batch_bytes));
      requests.push_back(start_synchronous_send(comm, batch, packet.rank, packet_tag));
      if (packet.rank == comm.rank()) continue;
      ++sent_by_thread.messages;
      sent_by_thread.bytes += static_cast<std::int64_t>(batch.size());
    }
  return requests;
}

/// Receives until all that anybody sent has been found. @collective
void receive_all(CommView comm, Inbox& inbox, std::vector<Request>& sends) {
  Request all_found = Request::none;
  bool found_mine = false;
  const auto look = [&] {
    while (inbox.look()) {
    }
    if (!found_mine && test_all(sends)) {
      found_mine = true;
      all_found = start_barrier(comm);
    }
    return found_mine && test_all({&all_found, 1});
  };
  look_until(look, std::numeric_limits<double>::infinity());
}

}  // namespace

std::vector<Packet<>> deliver(CommView comm, const std::vector<Packet<>>& outgoing) {
  // Nobody sends before all have found what the call before this one sent.
  barrier(comm);
  Inbox inbox(comm);
  auto sends = send_all(comm, outgoing);
  receive_all(comm, inbox, sends);
  return inbox.finish();
}

Delivered delivered() noexcept {
  return sent_by_thread;
}

}  // namespace tailrace::mpi
