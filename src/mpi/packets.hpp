// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// The bytes of all ranks in rank order, on the root only; empty elsewhere. @collective{comm}
std::vector<std::vector<std::byte>> gather(CommView comm, const std::vector<std::byte>& bytes, int root);

/// Values for another rank, or from it.
template <Sendable T = std::byte>
struct Packet {
  int rank = 0;
  std::vector<T> values;

  friend bool operator==(const Packet&, const Packet&) = default;
};

/// The packets to the ranks of a map.
template <Sendable T>
std::vector<Packet<T>> packets_of(std::map<int, std::vector<T>> by_rank) {
  std::vector<Packet<T>> packets;
  for (auto& [rank, values] : by_rank) packets.push_back({rank, std::move(values)});
  return packets;
}

/// Sends bytes to ranks that do not expect them, at most one packet to each, oneself included; returns what
/// came, by rank; empty ones are not sent. Nothing else may be under way on `comm` with this function's tag.
/// @collective{comm}, synchronises. Cost: two barriers and the messages that there are; no number per rank
/// of the communicator (Hoefler, Siebert, Lumsdaine: Scalable communication protocols for dynamic sparse
/// data exchange, 2010).
std::vector<Packet<>> deliver(CommView comm, const std::vector<Packet<>>& outgoing);

/// Messages to other ranks, and their bytes.
struct Delivered {
  std::int64_t messages = 0, bytes = 0;
};
/// What `deliver` has sent for this thread so far. @local
Delivered delivered() noexcept;

/// The same for values.
template <Sendable T>
std::vector<Packet<T>> deliver(CommView comm, const std::vector<Packet<T>>& outgoing) {
  std::vector<Packet<>> packed;
  for (const auto& [rank, values] : outgoing) {
    packed.push_back({rank, {}});
    append_bytes(packed.back().values, std::as_bytes(std::span(values)));
  }
  std::vector<Packet<T>> arrived;
  for (const auto& [rank, bytes] : deliver(comm, packed)) {
    arrived.push_back({rank, {}});
    append_values(arrived.back().values, bytes);
  }
  return arrived;
}

}  // namespace tailrace::mpi
