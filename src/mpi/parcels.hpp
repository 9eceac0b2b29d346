#pragma once

#include <cstddef>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// Bytes for another rank, or from it.
struct Parcel {
  int rank = 0;
  std::vector<std::byte> bytes;

  friend bool operator==(const Parcel&, const Parcel&) = default;
};

/// Sends bytes to ranks that do not expect them, at most one parcel to each, oneself included; returns what
/// came, by rank; empty ones are not sent. Nothing else may be under way on `comm` with this function's tag.
/// @collective{comm}, synchronises. Cost: two barriers and the messages that there are; no number per rank
/// of the communicator (Hoefler, Siebert, Lumsdaine: Scalable communication protocols for dynamic sparse
/// data exchange, 2010).
std::vector<Parcel> deliver(CommView comm, std::vector<Parcel> outgoing);

}  // namespace tailrace::mpi
