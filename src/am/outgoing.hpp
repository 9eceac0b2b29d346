// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "am/counters.hpp"
#include "am/message.hpp"
#include "am/silence.hpp"
#include "am/transport.hpp"

namespace tailrace::am {

/// Puts messages to the same rank into frames and sends these as far as the receiver has given credit: a
/// sender may have `Options::frames_in_flight` frames under way that the receiver has not yet handled, so
/// that a slow one is not drowned. Credit comes back with the next frame, or alone when half of it is due.
class Outgoing {
 public:
  Outgoing(Transport& transport, const Options& options);

  /// Adds an entry to the frame that is being filled for a rank.
  void append(int to, Lane lane, const EntryHeader& header, const Contents& contents);
  /// Sends what waits, as far as there is credit: all of it; what is on the lane `control` or has waited for
  /// `Options::max_age_s`.
  void flush();
  void flush_urgent();
  /// Takes in the credit that a frame brought.
  void take_credit(int from, const FrameHeader& header);
  /// Gives credit for a frame that has been handled.
  void give_credit(int to, Lane lane);

  [[nodiscard]] bool empty() const noexcept { return busy_.empty(); }
  [[nodiscard]] std::int64_t waiting_bytes() const noexcept { return waiting_bytes_; }
  [[nodiscard]] std::int64_t frames_sent() const noexcept { return frames_sent_; }
  [[nodiscard]] std::int64_t credit_waits() const noexcept { return credit_waits_; }
  /// What passed between this rank and another.
  [[nodiscard]] PeerTally& tally(int rank) { return peer(rank).tally; }
  [[nodiscard]] PeerTally tally(int rank) const noexcept;
  /// Adds the ranks whose credit is used up, and what others owe with how much they have sent.
  void add_debts(std::vector<Debt>& debts) const;
  [[nodiscard]] Debt debt(int rank, std::string owed) const;

 private:
  /// Describes one lane to a peer.
  struct Way {
    Bytes open;  ///< frame that is being filled, empty if there is none
    std::size_t messages = 0;
    double since_s = 0;
    std::deque<Bytes> closed;  ///< frames that wait for credit
    int credits = 0;
    int owed = 0;  ///< credits that the peer is to get back
  };
  struct Peer {
    int rank = 0;
    bool busy = false;
    std::int64_t frames_received = 0;
    std::array<Way, lane_count> ways;
    PeerTally tally;
  };

  Peer& peer(int rank);
  void close_frame(Way& way);
  void send_closed(Peer& peer, Lane lane);
  void send(Peer& peer, Lane lane, Bytes frame, bool counted);
  void flush_way(Peer& peer, Lane lane);
  template <class Wanted>
  void flush_if(Wanted wanted);

  Transport* transport_;
  Options options_;
  std::vector<std::unique_ptr<Peer>> peers_;  ///< null: nothing was sent there
  std::vector<Peer*> busy_;                   ///< those with something that waits
  std::int64_t waiting_bytes_ = 0, frames_sent_ = 0, credit_waits_ = 0;
};

}  // namespace tailrace::am
