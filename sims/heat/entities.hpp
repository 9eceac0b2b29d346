// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "leaf.hpp"
#include "tailrace/exchange/shared_numbering.hpp"

/// Vertices, edges and faces of elements: where mortar points are. There is a point at each vertex of an
/// element, and on each edge and face that no finer element splits those within it: of order 4, 3 and 9.
namespace tailrace::heat {

/// Which edges and faces of an element are split: finer elements have a vertex in their middle. Edges in the
/// order of their axis, then of their sides along the next axis and the one after that; faces in the order of
/// their axis and side.
using Splits = std::uint32_t;
inline constexpr std::size_t vertices_of_element = 8, edges_of_element = 12, faces_of_element = 6;
constexpr bool splits_edge(Splits splits, std::size_t edge) noexcept {
  return (splits >> edge & 1U) != 0;
}
constexpr bool splits_face(Splits splits, std::size_t face) noexcept {
  return (splits >> (edges_of_element + face) & 1U) != 0;
}

/// The two axes of a face that is normal to one, ascending.
constexpr std::array<std::size_t, 2> axes_of_face(std::size_t normal) noexcept {
  return {normal == 0 ? std::size_t{1} : 0, normal == 2 ? std::size_t{1} : 2};
}

enum class Kind : std::uint8_t { vertex, edge, face };
inline constexpr std::size_t kinds = 3;
/// Mortar points of an entity that is not split.
constexpr std::int64_t points_of(Kind kind, int order) noexcept {
  const std::int64_t within = order - 1;
  return kind == Kind::vertex ? 1 : kind == Kind::edge ? within : within * within;
}

/// A vertex, edge or face by its middle; `axis` is that of an edge, or normal to a face.
struct Entity {
  Kind kind = Kind::vertex;
  std::size_t axis = 0;
  Place middle{};

  [[nodiscard]] exchange::Key key() const noexcept {
    constexpr unsigned bits = 21;
    return {static_cast<std::uint64_t>(kind) * 3 + axis,
            static_cast<std::uint64_t>(middle[0]) | static_cast<std::uint64_t>(middle[1]) << bits |
                static_cast<std::uint64_t>(middle[2]) << (2 * bits)};
  }
  [[nodiscard]] bool is_on_boundary() const noexcept {
    return std::any_of(middle.begin(), middle.end(),
                       [](std::int32_t at) { return at == 0 || at == unit_length; });
  }
};

/// The place of a leaf's corner, numbered with x fastest.
constexpr Place corner(const Leaf& leaf, std::size_t i) noexcept {
  Place place = leaf.low;
  for (std::size_t d = 0; d < 3; ++d) place[d] += static_cast<std::int32_t>(i >> d & 1U) * leaf.size();
  return place;
}
/// The middle of an edge or a face.
constexpr Place middle_of_edge(const Leaf& leaf, std::size_t edge) noexcept {
  const std::size_t axis = edge / 4;
  Place place = leaf.low;
  place[axis] += leaf.size() / 2;
  place[(axis + 1) % 3] += static_cast<std::int32_t>(edge & 1U) * leaf.size();
  place[(axis + 2) % 3] += static_cast<std::int32_t>(edge >> 1U & 1U) * leaf.size();
  return place;
}
constexpr Place middle_of_face(const Leaf& leaf, std::size_t face) noexcept {
  const std::size_t axis = face / 2;
  Place place = leaf.low;
  for (const std::size_t along : axes_of_face(axis)) place[along] += leaf.size() / 2;
  place[axis] += static_cast<std::int32_t>(face & 1U) * leaf.size();
  return place;
}

/// Calls `visit(entity)` for what lies on the boundary of an element, in the order in which the columns of
/// its operators are: vertices; edges, of a split one both halves with the vertex between; faces, of a split
/// one the vertex in the middle, the halves along its first and its second axis, and the four quarters.
template <class Visit>
void for_each_entity(const Leaf& leaf, Splits splits, Visit visit) {
  const std::int32_t quarter = leaf.size() / 4;
  const auto moved = [](Place place, std::size_t axis, std::int32_t by) {
    place[axis] += by;
    return place;
  };
  for (std::size_t i = 0; i < vertices_of_element; ++i) visit(Entity{Kind::vertex, 0, corner(leaf, i)});
  for (std::size_t edge = 0; edge < edges_of_element; ++edge) {
    const std::size_t axis = edge / 4;
    const Place middle = middle_of_edge(leaf, edge);
    if (!splits_edge(splits, edge)) {
      visit(Entity{Kind::edge, axis, middle});
      continue;
    }
    visit(Entity{Kind::edge, axis, moved(middle, axis, -quarter)});
    visit(Entity{Kind::vertex, 0, middle});
    visit(Entity{Kind::edge, axis, moved(middle, axis, quarter)});
  }
  for (std::size_t face = 0; face < faces_of_element; ++face) {
    const Place middle = middle_of_face(leaf, face);
    if (!splits_face(splits, face)) {
      visit(Entity{Kind::face, face / 2, middle});
      continue;
    }
    visit(Entity{Kind::vertex, 0, middle});
    for (const std::size_t axis : axes_of_face(face / 2))
      for (const std::int32_t by : {-quarter, quarter})
        visit(Entity{Kind::edge, axis, moved(middle, axis, by)});
    const auto [u, v] = axes_of_face(face / 2);
    for (const std::int32_t by_v : {-quarter, quarter})
      for (const std::int32_t by_u : {-quarter, quarter})
        visit(Entity{Kind::face, face / 2, moved(moved(middle, u, by_u), v, by_v)});
  }
}

}  // namespace tailrace::heat
