#pragma once

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "mpi/parcels.hpp"

namespace tailrace::molecules {

/// Values for another rank, or from it.
template <mpi::Sendable T>
struct Parcel {
  int rank = 0;
  std::vector<T> values;
};

/// `mpi::deliver` for values. @collective{comm}, synchronises.
template <mpi::Sendable T>
std::vector<Parcel<T>> deliver(mpi::CommView comm, const std::vector<Parcel<T>>& parcels) {
  std::vector<mpi::Parcel> outgoing;
  for (const auto& parcel : parcels) {
    const auto bytes = std::as_bytes(std::span(parcel.values));
    outgoing.push_back({parcel.rank, {bytes.begin(), bytes.end()}});
  }
  std::vector<Parcel<T>> arrived;
  for (const auto& parcel : mpi::deliver(comm, std::move(outgoing))) {
    std::vector<T> values(parcel.bytes.size() / sizeof(T));
    std::memcpy(values.data(), parcel.bytes.data(), parcel.bytes.size());
    arrived.push_back({parcel.rank, std::move(values)});
  }
  return arrived;
}

}  // namespace tailrace::molecules
