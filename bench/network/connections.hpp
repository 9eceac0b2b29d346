// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "endpoint.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench::network {

/// A connection between each two ranks through one adapter.
class Connections {
 public:
  /// @collective{comm}, synchronises
  Connections(mpi::CommView comm, const Adapter& adapter, std::size_t largest);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

  /// Whether the adapter connects all ranks.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] Endpoint& to(int rank) const { return *endpoints_[static_cast<std::size_t>(rank)]; }
  void flush() const;

 private:
  struct Pair {
    int peer;
    MPI_Comm comm;
  };
  std::vector<Pair> pairs_;  ///< in the order in which they were made
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  bool complete_ = true;
};

/// Rounds in which each rank meets another one, until all have met: the peer in a round, or -1 if the number
/// of ranks is odd and this one is left over.
std::vector<int> tournament(int rank, int ranks);

}  // namespace tailrace::bench::network
