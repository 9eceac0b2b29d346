// SPDX-License-Identifier: BSD-3-Clause
#include "am/outgoing.hpp"

#include <algorithm>
#include <utility>

#include "base/system.hpp"

namespace tailrace::am {

namespace {

constexpr std::size_t index_of(Lane lane) noexcept {
  return static_cast<std::size_t>(lane);
}

}  // namespace

Outgoing::Outgoing(Transport& transport, const Options& options)
    : transport_(&transport), options_(options), peers_(static_cast<std::size_t>(transport.size())) {}

Outgoing::Peer& Outgoing::peer(int rank) {
  auto& found = peers_[static_cast<std::size_t>(rank)];
  if (!found) {
    found = std::make_unique<Peer>();
    found->rank = rank;
    for (Way& way : found->ways) way.credits = options_.frames_in_flight;
  }
  return *found;
}

PeerTally Outgoing::tally(int rank) const noexcept {
  const auto& found = peers_[static_cast<std::size_t>(rank)];
  return found ? found->tally : PeerTally{};
}

void Outgoing::append(int to, Lane lane, const EntryHeader& header, const Contents& contents) {
  Peer& receiver = peer(to);
  Way& way = receiver.ways[index_of(lane)];
  const std::size_t bytes = entry_bytes(contents.head.size(), contents.body.size());
  if (!way.open.empty() && way.open.size() + bytes > options_.frame_bytes) close_frame(way);
  if (way.open.empty()) {
    way.open = transport_->empty_frame();
    way.open.resize(sizeof(FrameHeader));
    put_at(way.open, 0, FrameHeader{.kind = header.module, .counted = 1});
    way.since_s = lane == Lane::data ? monotonic_s() : 0;
  }
  append_entry(way.open, header, contents.head, contents.body);
  if (++way.messages >= options_.messages_per_frame || way.open.size() >= options_.frame_bytes)
    close_frame(way);
  if (!std::exchange(receiver.busy, true)) busy_.push_back(&receiver);
  send_closed(receiver, lane);
}

void Outgoing::close_frame(Way& way) {
  waiting_bytes_ += static_cast<std::int64_t>(way.open.size());
  if (way.credits == 0) ++credit_waits_;
  way.closed.push_back(std::exchange(way.open, {}));
  way.messages = 0;
}

void Outgoing::send_closed(Peer& to, Lane lane) {
  Way& way = to.ways[index_of(lane)];
  for (; !way.closed.empty() && way.credits > 0; --way.credits) {
    waiting_bytes_ -= static_cast<std::int64_t>(way.closed.front().size());
    send(to, lane, std::move(way.closed.front()), true);
    way.closed.pop_front();
  }
}

void Outgoing::send(Peer& to, Lane lane, Bytes frame, bool counted) {
  auto header = value_at<FrameHeader>(frame);
  header.counted = counted ? 1 : 0;
  for (std::size_t i = 0; i < lane_count; ++i)
    header.credits[i] = static_cast<std::uint16_t>(std::exchange(to.ways[i].owed, 0));
  put_at(frame, 0, header);
  ++frames_sent_;
  transport_->send(to.rank, lane, std::move(frame));
}

void Outgoing::flush_way(Peer& to, Lane lane) {
  Way& way = to.ways[index_of(lane)];
  if (!way.open.empty() && way.closed.empty() && way.credits > 0) close_frame(way);
  send_closed(to, lane);
}

template <class Wanted>
void Outgoing::flush_if(Wanted wanted) {
  std::erase_if(busy_, [&](Peer* to) {
    bool left = false;
    for (const Lane lane : {Lane::control, Lane::data}) {
      const Way& way = to->ways[index_of(lane)];
      if (wanted(lane, way.since_s)) flush_way(*to, lane);
      left = left || !way.open.empty() || !way.closed.empty();
    }
    to->busy = left;
    return !left;
  });
}

void Outgoing::flush() {
  if (!busy_.empty()) flush_if([](Lane, double) { return true; });
}

void Outgoing::flush_urgent() {
  if (busy_.empty()) return;
  const double old_s = monotonic_s() - options_.max_age_s;
  flush_if([old_s](Lane lane, double since_s) { return lane == Lane::control || since_s <= old_s; });
}

Debt Outgoing::debt(int rank, std::string owed) const {
  const auto& found = peers_[static_cast<std::size_t>(rank)];
  return {rank, std::move(owed), found ? found->frames_received : 0};
}

void Outgoing::add_debts(std::vector<Debt>& debts) const {
  for (const Peer* to : busy_)
    if (std::ranges::any_of(to->ways, [](const Way& way) { return way.credits == 0; }))
      debts.push_back(debt(to->rank, "credit"));
}

void Outgoing::take_credit(int from, const FrameHeader& header) {
  ++peer(from).frames_received;
  for (const Lane lane : {Lane::control, Lane::data}) {
    if (header.credits[index_of(lane)] == 0) continue;
    Peer& to = peer(from);
    to.ways[index_of(lane)].credits += header.credits[index_of(lane)];
    send_closed(to, lane);
  }
}

void Outgoing::give_credit(int to, Lane lane) {
  Peer& sender = peer(to);
  if (2 * ++sender.ways[index_of(lane)].owed < options_.frames_in_flight) return;
  Bytes frame = transport_->empty_frame();
  frame.resize(sizeof(FrameHeader));
  put_at(frame, 0, FrameHeader{.kind = own_module});
  send(sender, Lane::control, std::move(frame), false);
}

}  // namespace tailrace::am
