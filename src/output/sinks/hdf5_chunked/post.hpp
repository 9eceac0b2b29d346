// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "output/sinks/hdf5_chunked/packet.hpp"
#include "tailrace/comm.hpp"

/// Packets between ranks. Everything here belongs to the simulation's thread, and nothing waits.
///
/// A rank's output falls into parts, each of which ends with a commit mark; all ranks have the same number of
/// them. The rank that has the file open takes in one part after the other, from all ranks before the next,
/// and only those that it is asked for: a rank that is ahead keeps its packets, so that what lies here stays
/// bounded.
namespace tailrace::output {

/// A packet that MPI reads from or writes to.
struct PacketFlight {
  Packet packet;
  mpi::Request request = mpi::Request::none;
};

/// The side of a rank without the file.
class PacketSender {
 public:
  PacketSender(mpi::CommView comm, PacketQueue& outbox) : comm_(comm), outbox_(outbox) {}
  PacketSender(const PacketSender&) = delete;
  PacketSender& operator=(const PacketSender&) = delete;
  ~PacketSender();

  /// Sends what is in the outbox, and frees the room of what was taken in. @local
  void progress();
  /// Nothing more will be put into the outbox; the file's rank learns it after the last packet. @local
  void end() noexcept { ending_ = true; }
  /// True if it was reported. @local
  [[nodiscard]] bool ended() const noexcept { return reported_ && flights_.empty(); }
  /// True if nothing of this part waits for `progress` any more: MPI has it, whatever call this thread is in.
  /// @local
  [[nodiscard]] bool has_sent(std::int64_t part) const noexcept { return sent_parts_ >= part || reported_; }

 private:
  mpi::CommView comm_;
  PacketQueue& outbox_;
  std::deque<PacketFlight> flights_;
  std::int64_t sent_parts_ = 0;
  bool ending_ = false, reported_ = false;
};

/// The side of the rank with the file.
class PacketReceiver {
 public:
  PacketReceiver(mpi::CommView comm, PacketQueue& inbox);
  PacketReceiver(const PacketReceiver&) = delete;
  PacketReceiver& operator=(const PacketReceiver&) = delete;
  ~PacketReceiver();

  /// Takes in what has arrived of the parts up to `last_part`, as far as the inbox has room. @local
  void progress(std::int64_t last_part);
  /// True if all ranks have sent this part, or will send nothing more. @local
  [[nodiscard]] bool has_part(std::int64_t part) const noexcept { return taking_part_ > part || all_ended(); }
  [[nodiscard]] bool all_ended() const noexcept { return ended_ == comm_.size() - 1; }

 private:
  void match(int tag);
  void deliver();
  void mark(const Packet& packet);

  mpi::CommView comm_;
  PacketQueue& inbox_;
  std::deque<PacketFlight> flights_;
  std::vector<std::int64_t> parts_;  ///< complete ones of each rank
  std::int64_t taking_part_ = 1;
  int ended_ = 0;
};

}  // namespace tailrace::output
