// SPDX-License-Identifier: BSD-3-Clause
#include "forest.hpp"

#include <p8est_extended.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace tailrace::heat {

namespace {

static_assert(P8EST_QMAXLEVEL == deepest_level);
constexpr std::int32_t units_per_step = unit_length / P8EST_ROOT_LEN;

struct Free {
  void operator()(p8est_t* forest) const noexcept { p8est_destroy(forest); }
  void operator()(p8est_connectivity_t* cube) const noexcept { p8est_connectivity_destroy(cube); }
};

/// What p4est's callback asks.
struct Wanted {
  int level;
  const Ball& ball;
};

Leaf leaf_of(const p8est_quadrant_t& octant) noexcept {
  return {{octant.x * units_per_step, octant.y * units_per_step, octant.z * units_per_step}, octant.level};
}

int refines(p8est_t* forest, p4est_topidx_t /*tree*/, p8est_quadrant_t* octant) {
  const auto& wanted = *static_cast<const Wanted*>(forest->user_pointer);
  return octant->level < wanted.level && wanted.ball.touches(leaf_of(*octant)) ? 1 : 0;
}

/// p4est ends the process on its own errors: says which rank that was, and ends the job as ours do.
void end_of_p4est() {
  std::fputs("tailrace-heat: p4est gave up on an error; its reason is above. Fix: more memory per rank\n",
             stderr);
  constexpr int run_failed = 3;
  mpi::Environment::abort(run_failed);
}

/// Only its errors are shown.
void quiet_p4est() {
  static const bool done = [] {
    sc_set_log_defaults(stderr, nullptr, SC_LP_ERROR);
    sc_set_abort_handler(end_of_p4est);
    return true;
  }();
  static_cast<void>(done);
}

std::vector<Leaf> leaves_of(const p8est_t& forest) {
  std::vector<Leaf> leaves;
  if (forest.local_num_quadrants == 0) return leaves;
  auto& octants = p8est_tree_array_index(forest.trees, 0)->quadrants;
  leaves.reserve(octants.elem_count);
  for (std::size_t i = 0; i < octants.elem_count; ++i)
    leaves.push_back(leaf_of(*p8est_quadrant_array_index(&octants, i)));
  return leaves;
}

std::vector<std::uint64_t> starts_of(const p8est_t& forest) {
  std::vector<std::uint64_t> starts;
  for (int rank = 0; rank < forest.mpisize; ++rank) {
    const auto& first = forest.global_first_position[rank];
    starts.push_back(first.p.which_tree > 0 ? morton_end : leaf_of(first).key());
  }
  starts.push_back(morton_end);
  return starts;
}

}  // namespace

int Forest::owner(std::uint64_t key) const noexcept {
  const auto behind = std::upper_bound(starts.begin(), starts.end() - 1, key);
  return static_cast<int>(behind - starts.begin()) - 1;
}

Forest root_forest(mpi::CommView comm) {
  Forest forest{{}, std::vector<std::uint64_t>(static_cast<std::size_t>(comm.size()), 0), 1};
  forest.starts.push_back(morton_end);
  if (comm.rank() == comm.size() - 1) forest.leaves.push_back({});
  return forest;
}

Forest make_forest(mpi::CommView comm, int level, const Ball& ball) {
  quiet_p4est();
  const std::unique_ptr<p8est_connectivity_t, Free> cube(p8est_connectivity_new_unitcube());
  Wanted wanted{level, ball};
  const std::unique_ptr<p8est_t, Free> forest(
      p8est_new_ext(comm.get(), cube.get(), 0, 0, 1, 0, nullptr, &wanted));
  // Level by level, so that no rank ever has more than its share.
  for (int done = 0; done < level; ++done) {
    p8est_refine(forest.get(), 0, refines, nullptr);
    p8est_partition(forest.get(), 0, nullptr);
  }
  p8est_balance(forest.get(), P8EST_CONNECT_EDGE, nullptr);
  p8est_partition(forest.get(), 0, nullptr);
  return {leaves_of(*forest), starts_of(*forest), forest->global_num_quadrants};
}

}  // namespace tailrace::heat
