// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "adaptive_mesh.hpp"

/// What ranks send to each other when a mesh of UA changes, inspected by one process on behalf of one rank
/// after the other: what `tailrace-heat` counts while it runs (`results.traffic` in run.json), part by part.
namespace tailrace::bench {

/// Sums over ranks, and the rank with the most, number by number.
struct Sent {
  std::int64_t items = 0, messages = 0, bytes = 0;
  std::int64_t max_items = 0, max_messages = 0, max_bytes = 0;

  /// Adds what a rank sends.
  void add(std::int64_t of_items, std::int64_t in_messages, std::int64_t of_bytes);
};

/// The parts that are the same with every rule of ownership by which the lowest rank that touches a point
/// numbers it: old elements with their values to their new ranks; elements at which ranks may touch; keys of
/// the vertices, edges and faces that they may share, and the numbers that come back.
struct MeshChange {
  Sent transfer, surroundings, numbering;
};
/// From leaves to leaves in equal blocks of Morton order; `mortars` are those of the latter. Cost: some
/// passes over the elements, and a hash table of those around them.
MeshChange mesh_change(const std::vector<Leaf>& from, const std::vector<Leaf>& to, const Mortars& mortars,
                       int ranks);

/// The points of the vertices, edges and faces that each rank touches first of all.
std::vector<std::vector<std::int64_t>> first_touched(const Mortars& mortars, int ranks);

}  // namespace tailrace::bench
