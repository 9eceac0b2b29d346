// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ball.hpp"
#include "leaf.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::heat {

/// The leaves of an octree over the unit cube, in Morton order, shared out among ranks: each has a contiguous
/// extent of them, also an empty one.
struct Forest {
  std::vector<Leaf> leaves;           ///< this rank's
  std::vector<std::uint64_t> starts;  ///< where on Morton's curve each rank's extent begins, and its end
  std::int64_t total = 0;             ///< leaves of all ranks

  /// The rank whose extent holds a key. Cost: a binary search.
  [[nodiscard]] int owner(std::uint64_t key) const noexcept;
  /// The ranks whose extents meet the keys from `begin` up to `end`: calls `visit(rank)`, ascending.
  template <class Visit>
  void for_each_owner(std::uint64_t begin, std::uint64_t end, Visit visit) const {
    for (auto rank = static_cast<std::size_t>(owner(begin)); rank + 1 < starts.size() && starts[rank] < end;
         ++rank)
      if (starts[rank] < starts[rank + 1]) visit(static_cast<int>(rank));
  }

  friend bool operator==(const Forest&, const Forest&) = default;
};

/// The whole cube as one leaf, on the last rank. @local
Forest root_forest(mpi::CommView comm);

/// The coarsest octree in which leaves that touch the ball have this level, and leaves that share a face or
/// an edge differ by one level at most; equal shares. Made by p4est, and nothing of p4est is seen outside.
/// @collective{comm}, synchronises. Cost: a refinement and a partition per level; memory of this rank's
/// share.
Forest make_forest(mpi::CommView comm, int level, const Ball& ball);

}  // namespace tailrace::heat
