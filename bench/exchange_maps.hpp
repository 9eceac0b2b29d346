// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/distribution.hpp"

namespace tailrace::bench {

/// What a rank reads of a distributed index space: the load of a measurement.
struct IndexLoad {
  exchange::Distribution distribution;
  std::vector<std::int64_t> indices;
};

/// ua-A, ua-C (UA's meshes after half of the run, owned by the lowest rank), random, stencil (7 points),
/// power-law and banded (sparse matrices), one-word (one value per peer).
const std::vector<std::string>& index_loads();
/// These, ua-B, and slab (7 points of a grid that grows with the ranks, periodic in z).
const std::vector<std::string>& counted_loads();
IndexLoad index_load(const std::string& name, int rank, int ranks);
/// The same; a mesh is made by the first rank alone. @collective{comm}
IndexLoad shared_out_load(mpi::CommView comm, const std::string& name);

}  // namespace tailrace::bench
