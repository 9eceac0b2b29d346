// SPDX-License-Identifier: BSD-3-Clause
#include "surroundings.hpp"

#include <algorithm>
#include <map>

#include "mpi/packets.hpp"

namespace tailrace::heat {

namespace {

bool is_inside(const Place& low) noexcept {
  return std::all_of(low.begin(), low.end(), [](std::int32_t at) { return at >= 0 && at < unit_length; });
}

/// Calls `visit` with the cubes of the same size around a leaf, as far as they are inside of the domain. A
/// leaf of any size that touches this one meets one of them.
template <class Visit>
void for_each_around(const Leaf& leaf, Visit visit) {
  for (std::int32_t z = -1; z <= 1; ++z)
    for (std::int32_t y = -1; y <= 1; ++y)
      for (std::int32_t x = -1; x <= 1; ++x) {
        const std::int32_t size = leaf.size();
        const Leaf cube{{leaf.low[0] + x * size, leaf.low[1] + y * size, leaf.low[2] + z * size}, leaf.level};
        if (is_inside(cube.low)) visit(cube);
      }
}

}  // namespace

Surroundings look_around(mpi::CommView comm, const Forest& forest) {
  std::map<int, std::vector<std::int32_t>> seen_by;
  for (std::size_t i = 0; i < forest.leaves.size(); ++i)
    for_each_around(forest.leaves[i], [&](const Leaf& cube) {
      forest.for_each_owner(cube.key(), cube.end_key(), [&](int rank) {
        if (rank == comm.rank()) return;
        auto& list = seen_by[rank];
        if (list.empty() || list.back() != static_cast<std::int32_t>(i))
          list.push_back(static_cast<std::int32_t>(i));
      });
    });
  Surroundings found;
  std::vector<mpi::Packet<Leaf>> outgoing;
  for (auto& [rank, list] : seen_by) {
    auto& leaves = outgoing.emplace_back(mpi::Packet<Leaf>{rank, {}}).values;
    for (const std::int32_t i : list) leaves.push_back(forest.leaves[static_cast<std::size_t>(i)]);
    found.neighbours.push_back({rank, std::move(list)});
  }
  for (const auto& [rank, leaves] : mpi::deliver(comm, outgoing))
    found.foreign.insert(found.foreign.end(), leaves.begin(), leaves.end());
  return found;
}

}  // namespace tailrace::heat
