// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/post.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "mpi/message.hpp"

namespace tailrace::output {

namespace {

constexpr int file_rank = 0;
constexpr std::size_t max_flights = 16;
constexpr int end_tag = 0;  // of the empty message behind a rank's last packet
constexpr std::int64_t no_more_parts = std::numeric_limits<std::int64_t>::max();

/// Parts that are under way at the same time have different tags.
int tag_of(std::int64_t part) noexcept {
  constexpr std::int64_t tags = 32'000;  // MPI has at least 32767
  return static_cast<int>(1 + part % tags);
}

bool is_complete(PacketFlight& flight) {
  return mpi::test_all(std::span(&flight.request, 1));
}

/// Leaves messages that are under way, while an error ends the program, and their memory to MPI.
void leave(std::deque<PacketFlight>& flights) {
  if (!flights.empty())
    static_cast<void>(new std::deque<PacketFlight>(std::move(flights)));  // NOLINT: lost on purpose
}

}  // namespace

PacketSender::~PacketSender() {
  leave(flights_);
}

void PacketSender::progress() {
  std::erase_if(flights_, [this](PacketFlight& flight) {
    if (!is_complete(flight)) return false;
    outbox_.release(flight.packet.bytes());
    return true;
  });
  while (flights_.size() < max_flights) {
    auto packet = outbox_.try_take();
    if (!packet) break;
    PacketFlight& flight = flights_.emplace_back(PacketFlight{std::move(*packet)});
    flight.request =
        mpi::start_synchronous_send(comm_, flight.packet.message, file_rank, tag_of(flight.packet.part));
    if (flight.packet.head().kind == PacketKind::commit_mark) ++sent_parts_;
  }
  if (!ending_ || reported_ || !flights_.empty()) return;
  reported_ = true;
  PacketFlight& flight = flights_.emplace_back();
  flight.request = mpi::start_synchronous_send(comm_, {}, file_rank, end_tag);
}

PacketReceiver::PacketReceiver(mpi::CommView comm, PacketQueue& inbox)
    : comm_(comm), inbox_(inbox), parts_(static_cast<std::size_t>(comm.size()), 0) {
  parts_[file_rank] = no_more_parts;
}

PacketReceiver::~PacketReceiver() {
  leave(flights_);
}

void PacketReceiver::progress(std::int64_t last_part) {
  if (all_ended()) return;
  match(end_tag);
  if (taking_part_ <= last_part) match(tag_of(taking_part_));
  deliver();
}

void PacketReceiver::match(int tag) {
  while (flights_.size() < max_flights) {
    const auto arrival = mpi::find_arrival(comm_, tag);
    if (!arrival) return;
    PacketFlight& flight = flights_.emplace_back();
    flight.packet.message.resize(static_cast<std::size_t>(arrival->bytes));
    flight.packet.source = arrival->source;
    flight.request = mpi::start_receive(*arrival, flight.packet.message);
  }
}

void PacketReceiver::deliver() {
  while (!flights_.empty() && is_complete(flights_.front())) {
    Packet& packet = flights_.front().packet;
    if (!inbox_.reserve(packet.bytes())) return;
    mark(packet);
    inbox_.put(std::move(packet));
    flights_.pop_front();
  }
}

void PacketReceiver::mark(const Packet& packet) {
  std::int64_t& parts = parts_[static_cast<std::size_t>(packet.source)];
  if (packet.message.empty()) {
    parts = no_more_parts;
    ++ended_;
  } else if (packet.head().kind == PacketKind::commit_mark) {
    ++parts;
  }
  while (!all_ended() && *std::min_element(parts_.begin(), parts_.end()) >= taking_part_) ++taking_part_;
}

}  // namespace tailrace::output
