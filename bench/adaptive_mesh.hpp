// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// The meshes of NPB's Unstructured Adaptive benchmark (UA), made by brute force from their definition (Feng,
/// Van der Wijngaart, Biswas, Mavriplis: Unstructured Adaptive (UA) NAS Parallel Benchmark, NAS-04-006,
/// 2004): index vectors for measurements, and something to compare a distributed mesh with.
namespace tailrace::bench {

/// A class of the benchmark: the finest level, and the radius of the ball that moves.
struct UaClass {
  char name;
  int level;
  double radius;

  /// Length of a time step.
  [[nodiscard]] double step_s() const noexcept;
};
/// Errors (usage): none of S, W, A, B, C, D.
UaClass ua_class(char name);

/// A leaf of the octree: its low corner and its size, in units of 1/2 of the finest size, so that midpoints
/// are whole.
struct Leaf {
  std::array<std::int32_t, 3> low{};
  std::int32_t size = 0;

  friend bool operator==(const Leaf&, const Leaf&) = default;
};

/// The leaves in Morton order, x fastest: those that touch the open ball have the finest level, and leaves
/// that share a face or an edge differ by at most one level.
std::vector<Leaf> ua_leaves(const UaClass& which, double time_s);
/// Those after so many steps.
std::vector<Leaf> ua_leaves_after(const UaClass& which, int steps);

/// The points of the mortar space, by their elements.
struct Mortars {
  std::int64_t vertices = 0, points = 0;  ///< points 0 to vertices - 1 are vertices of elements
  std::vector<std::int64_t> first;    ///< of each element in `indices`, and behind the last one their number
  std::vector<std::int64_t> indices;  ///< the points on the boundary of each element, each once
  std::vector<bool> begins;  ///< of each point: whether it is a vertex or the first one of an edge or a face
};

/// A vertex at each vertex of an element, 3 points on each edge and 9 on each face that no finer element
/// splits. Vertices are numbered first, then the others, each in the order in which elements touch them.
Mortars ua_mortars(const std::vector<Leaf>& leaves);

}  // namespace tailrace::bench
