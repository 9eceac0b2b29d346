#pragma once

#include <cstring>
#include <vector>

#include "tailrace/mpi/comm.hpp"

namespace tailrace::molecules {

/// Values for another rank, or from it.
template <mpi::Sendable T>
struct Parcel {
  int rank = 0;
  std::vector<T> values;
};

/// Sends bytes to ranks that do not expect them; returns what came, by rank. At most one parcel for each
/// rank, one to oneself included; empty ones are not sent. @collective{comm}, synchronises. Cost: a sum of
/// one number for each rank, and the messages that there are.
std::vector<Parcel<std::byte>> deliver_bytes(mpi::CommView comm,
                                             const std::vector<Parcel<std::byte>>& parcels);

/// The same for values. @collective{comm}, synchronises.
template <mpi::Sendable T>
std::vector<Parcel<T>> deliver(mpi::CommView comm, const std::vector<Parcel<T>>& parcels) {
  std::vector<Parcel<std::byte>> outgoing;
  for (const auto& parcel : parcels) {
    const auto bytes = std::as_bytes(std::span(parcel.values));
    outgoing.push_back({parcel.rank, {bytes.begin(), bytes.end()}});
  }
  std::vector<Parcel<T>> arrived;
  for (const auto& parcel : deliver_bytes(comm, outgoing)) {
    std::vector<T> values(parcel.values.size() / sizeof(T));
    std::memcpy(values.data(), parcel.values.data(), values.size() * sizeof(T));
    arrived.push_back({parcel.rank, std::move(values)});
  }
  return arrived;
}

}  // namespace tailrace::molecules
