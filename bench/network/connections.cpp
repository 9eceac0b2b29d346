// SPDX-License-Identifier: BSD-3-Clause
#include "connections.hpp"

#include <algorithm>
#include <ranges>

namespace tailrace::bench::network {

namespace {

/// A communicator of two ranks, the lower one first. @collective of the two
MPI_Comm pair_of(mpi::CommView comm, int peer, int round) {
  const std::array members{std::min(comm.rank(), peer), std::max(comm.rank(), peer)};
  MPI_Group all = MPI_GROUP_NULL, two = MPI_GROUP_NULL;
  MPI_Comm_group(comm.get(), &all);
  MPI_Group_incl(all, 2, members.data(), &two);
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_create_group(comm.get(), two, round, &pair);
  MPI_Group_free(&two);
  MPI_Group_free(&all);
  return pair;
}

}  // namespace

std::vector<int> tournament(int rank, int ranks) {
  const int players = ranks + ranks % 2, rounds = players - 1;
  std::vector<int> peers;
  for (int round = 0; round < rounds; ++round) {
    // One player stays, the others move on around a circle; the two at one distance from the round meet.
    int peer = 0;
    if (rank == players - 1)
      peer = round;
    else if (rank == round)
      peer = players - 1;
    else
      peer = ((2 * round - rank) % rounds + rounds) % rounds;
    peers.push_back(peer < ranks ? peer : -1);
  }
  return peers;
}

Connections::Connections(mpi::CommView comm, const Adapter& adapter, std::size_t largest)
    : endpoints_(static_cast<std::size_t>(comm.size())) {
  const auto peers = tournament(comm.rank(), comm.size());
  for (int round = 0; round < static_cast<int>(peers.size()); ++round) {
    const int peer = peers[static_cast<std::size_t>(round)];
    if (peer < 0) continue;
    const MPI_Comm pair = pair_of(comm, peer, round);
    pairs_.push_back({peer, pair});
    auto& endpoint = endpoints_[static_cast<std::size_t>(peer)];
    endpoint = adapter.make(pair, largest);
    complete_ = complete_ && endpoint != nullptr;
  }
  complete_ = mpi::min(comm, std::int64_t{complete_}) != 0;
}

Connections::~Connections() {
  for (auto& [peer, comm] : pairs_) {
    endpoints_[static_cast<std::size_t>(peer)].reset();
    MPI_Comm_free(&comm);
  }
}

void Connections::flush() const {
  for (const auto& [peer, comm] : pairs_) to(peer).flush();
}

}  // namespace tailrace::bench::network
