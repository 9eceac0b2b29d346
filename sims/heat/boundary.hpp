// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "basis.hpp"
#include "entities.hpp"

/// The points on the boundary of an element: those of its 8 vertices, then those within each edge, then those
/// within each face.
namespace tailrace::heat {

template <int order>
inline constexpr std::size_t boundary_points = element_points<order> - inner_points<order>;
inline constexpr std::size_t first_edge_point = vertices_of_element;
template <int order>
inline constexpr std::size_t first_face_point = first_edge_point + edges_of_element* inner<order>;
inline constexpr std::size_t entities_of_element = vertices_of_element + edges_of_element + faces_of_element;

template <int order>
constexpr std::size_t point_at(const std::array<std::size_t, 3>& at) noexcept {
  return (at[2] * points<order> + at[1]) * points<order> + at[0];
}
template <int order>
constexpr std::size_t point_of_vertex(std::size_t i) noexcept {
  constexpr std::size_t end = points<order> - 1;
  return point_at<order>({(i & 1U) * end, (i >> 1U & 1U) * end, (i >> 2U) * end});
}
/// The point number `i` of an edge.
template <int order>
constexpr std::size_t point_of_edge(std::size_t edge, std::size_t i) noexcept {
  constexpr std::size_t end = points<order> - 1;
  const std::size_t axis = edge / 4;
  std::array<std::size_t, 3> at{};
  at[axis] = i;
  at[(axis + 1) % 3] = (edge & 1U) * end;
  at[(axis + 2) % 3] = (edge >> 1U & 1U) * end;
  return point_at<order>(at);
}
template <int order>
constexpr std::size_t point_of_face(std::size_t face, std::size_t i, std::size_t j) noexcept {
  constexpr std::size_t end = points<order> - 1;
  const auto [u, v] = axes_of_face(face / 2);
  std::array<std::size_t, 3> at{};
  at[face / 2] = (face & 1U) * end;
  at[u] = i;
  at[v] = j;
  return point_at<order>(at);
}

template <int order>
constexpr std::array<std::size_t, boundary_points<order>> make_boundary() noexcept {
  std::array<std::size_t, boundary_points<order>> list{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < vertices_of_element; ++i) list[next++] = point_of_vertex<order>(i);
  for (std::size_t edge = 0; edge < edges_of_element; ++edge)
    for (std::size_t i = 1; i <= inner<order>; ++i) list[next++] = point_of_edge<order>(edge, i);
  for (std::size_t face = 0; face < faces_of_element; ++face)
    for (std::size_t j = 1; j <= inner<order>; ++j)
      for (std::size_t i = 1; i <= inner<order>; ++i) list[next++] = point_of_face<order>(face, i, j);
  return list;
}
/// The points of the element, in the order above.
template <int order>
inline constexpr auto boundary = make_boundary<order>();
template <int order>
using BoundaryValues = std::array<double, boundary_points<order>>;

/// Where the points of a vertex, edge or face begin among those above.
template <int order>
constexpr std::size_t first_of_entity(std::size_t entity) noexcept {
  if (entity < vertices_of_element) return entity;
  const std::size_t edge = entity - vertices_of_element;
  if (edge < edges_of_element) return first_edge_point + edge * inner<order>;
  return first_face_point<order> + (edge - edges_of_element) * inner<order> * inner<order>;
}

}  // namespace tailrace::heat
