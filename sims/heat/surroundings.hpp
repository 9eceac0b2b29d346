// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "leaf.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::heat {

/// What ranks know of each other's leaves.
struct Surroundings {
  /// A rank, and which of this rank's leaves may touch some of its leaves, ascending.
  struct Neighbour {
    int rank = 0;
    std::vector<std::int32_t> leaves;
  };
  std::vector<Neighbour> neighbours;
  std::vector<Leaf> foreign;  ///< leaves of others that may touch this rank's; all that do are there
};

/// Has ranks exchange the leaves at which they may touch, also at corners. @collective{comm}, synchronises.
/// Cost: 16 bytes per leaf at the rim and neighbour.
Surroundings look_around(mpi::CommView comm, const Forest& forest);

}  // namespace tailrace::heat
