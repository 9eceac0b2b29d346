// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.hpp"

#include <algorithm>

namespace tailrace::heat {

namespace {

constexpr std::size_t vertex_of_edge(std::size_t edge, std::size_t side) noexcept {
  const std::size_t axis = edge / 4;
  return side << axis | (edge & 1U) << (axis + 1) % 3 | (edge >> 1U & 1U) << (axis + 2) % 3;
}

/// The edge of a face that runs along one of its axes, at a side of the other one.
constexpr std::size_t edge_of_face(std::size_t face, std::size_t along, std::size_t other,
                                   std::size_t side) noexcept {
  const std::size_t at_face = face & 1U;
  const bool other_first = (along + 1) % 3 == other;
  return along * 4 + (other_first ? side | at_face << 1U : at_face | side << 1U);
}

template <int order>
constexpr std::size_t of_split_edge = 2 * inner<order> + 1;
template <int order>
constexpr std::size_t of_split_face = of_split_edge<order>* of_split_edge<order>;

}  // namespace

/// Where the columns of a pattern are.
template <int order>
struct Pattern<order>::Columns {
  explicit Columns(Splits given) : splits(given) {
    std::size_t next = vertices_of_element;
    for (std::size_t e = 0; e < edges_of_element; ++e) {
      edge[e] = next;
      next += splits_edge(splits, e) ? of_split_edge<order> : inner<order>;
    }
    for (std::size_t f = 0; f < faces_of_element; ++f) {
      face[f] = next;
      next += splits_face(splits, f) ? of_split_face<order> : inner<order> * inner<order>;
    }
    count = next;
  }
  /// The column of one of the 9 values along a split edge.
  [[nodiscard]] std::size_t along(std::size_t e, std::size_t g) const noexcept {
    if (g == 0 || g + 1 == both_halves<order>) return vertex_of_edge(e, g == 0 ? 0 : 1);
    return edge[e] + g - 1;
  }
  /// The column of one of the 9 x 9 values of a split face.
  [[nodiscard]] std::size_t on(std::size_t f, std::size_t a, std::size_t b) const noexcept {
    const auto [u, v] = axes_of_face(f / 2);
    const auto is_end = [](std::size_t g) { return g == 0 || g + 1 == both_halves<order>; };
    if (is_end(b)) return along(edge_of_face(f, u, v, b == 0 ? 0 : 1), a);
    if (is_end(a)) return along(edge_of_face(f, v, u, a == 0 ? 0 : 1), b);
    const auto half = [](std::size_t g) { return g < points<order> ? std::size_t{0} : std::size_t{1}; };
    const auto in_half = [&](std::size_t g) { return g - 1 - half(g) * (inner<order> + 1); };
    const bool a_middle = a + 1 == points<order>, b_middle = b + 1 == points<order>;
    if (a_middle && b_middle) return face[f];
    if (b_middle) return face[f] + 1 + half(a) * inner<order> + in_half(a);
    if (a_middle) return face[f] + 1 + 2 * inner<order> + half(b) * inner<order> + in_half(b);
    const std::size_t quarter = half(b) * 2 + half(a);
    return face[f] + 1 + 4 * inner<order> + quarter * inner<order> * inner<order> +
           in_half(b) * inner<order> + in_half(a);
  }

  Splits splits;
  std::array<std::size_t, edges_of_element> edge{};
  std::array<std::size_t, faces_of_element> face{};
  std::size_t count = 0;
};

template <int order>
Pattern<order>::Pattern(Splits splits) : splits_(splits) {
  const Columns columns(splits);
  columns_ = columns.count;
  find_splits(columns);
  // A vertex counts by how many of its three faces are not split: a third for each.
  for (std::size_t i = 0; i < vertices_of_element; ++i) {
    int whole = 0;
    for (std::size_t d = 0; d < 3; ++d) whole += splits_face(splits_, 2 * d + (i >> d & 1U)) ? 0 : 1;
    vertex_weights_[i] = whole / 3.0;
  }
  find_diagonals();
}

template <int order>
void Pattern<order>::find_splits(const Columns& columns) {
  constexpr std::int16_t split = -1;
  for (std::size_t i = 0; i < vertices_of_element; ++i) first_column_[i] = static_cast<std::int16_t>(i);
  for (std::size_t edge = 0; edge < edges_of_element; ++edge) {
    auto& first = first_column_[vertices_of_element + edge] = static_cast<std::int16_t>(columns.edge[edge]);
    if (!splits_edge(splits_, edge)) continue;
    first = split;
    auto& list = edges_.emplace_back(SplitEdge{edge, {}}).columns;
    for (std::size_t g = 0; g < both_halves<order>; ++g)
      list[g] = static_cast<std::int16_t>(columns.along(edge, g));
  }
  for (std::size_t face = 0; face < faces_of_element; ++face) {
    auto& first = first_column_[vertices_of_element + edges_of_element + face] =
        static_cast<std::int16_t>(columns.face[face]);
    if (!splits_face(splits_, face)) continue;
    first = split;
    auto& list = faces_.emplace_back(SplitFace{face, {}}).columns;
    for (std::size_t b = 0; b < both_halves<order>; ++b)
      for (std::size_t a = 0; a < both_halves<order>; ++a)
        list[b][a] = static_cast<std::int16_t>(columns.on(face, a, b));
  }
}

template <int order>
void Pattern<order>::project_edge(const Along& along, double* values) noexcept {
  const auto& p = projection<order>();
  for (std::size_t i = 0; i < inner<order>; ++i) {
    values[i] = 0;
    for (std::size_t g = 0; g < both_halves<order>; ++g) values[i] += p[i + 1][g] * along[g];
  }
}

template <int order>
void Pattern<order>::project_face(const Across& across, double* values) noexcept {
  const auto& p = projection<order>();
  for (std::size_t j = 0; j < inner<order>; ++j) {
    Along row{};
    for (std::size_t b = 0; b < both_halves<order>; ++b)
      for (std::size_t a = 0; a < both_halves<order>; ++a) row[a] += p[j + 1][b] * across[b][a];
    project_edge(row, values + j * inner<order>);
  }
}

/// The transpose of `project_face`.
template <int order>
auto Pattern<order>::spread_face(const double* values) noexcept -> Across {
  const auto& p = projection<order>();
  Across across{};
  for (std::size_t j = 0; j < inner<order>; ++j) {
    Along row{};
    for (std::size_t i = 0; i < inner<order>; ++i)
      for (std::size_t a = 0; a < both_halves<order>; ++a)
        row[a] += p[i + 1][a] * values[j * inner<order> + i];
    for (std::size_t b = 0; b < both_halves<order>; ++b)
      for (std::size_t a = 0; a < both_halves<order>; ++a) across[b][a] += p[j + 1][b] * row[a];
  }
  return across;
}

template <int order>
void Pattern<order>::to_columns(const BoundaryValues<order>& values, double* columns) const noexcept {
  std::fill_n(columns, columns_, 0.0);
  for_each_whole_point([&](std::size_t point, std::size_t column) { columns[column] = values[point]; });
  const auto& p = projection<order>();
  for (const auto& [edge, places] : edges_)
    for (std::size_t i = 0; i < inner<order>; ++i)
      for (std::size_t g = 0; g < both_halves<order>; ++g)
        columns[places[g]] += p[i + 1][g] * values[first_edge_point + edge * inner<order> + i];
  for (const auto& [face, places] : faces_) {
    const Across across = spread_face(&values[first_face_point<order> + face * inner<order> * inner<order>]);
    for (std::size_t b = 0; b < both_halves<order>; ++b)
      for (std::size_t a = 0; a < both_halves<order>; ++a) columns[places[b][a]] += across[b][a];
  }
}

template <int order>
void Pattern<order>::to_averages(const BoundaryValues<order>& values, double* columns) const noexcept {
  std::fill_n(columns, columns_, 0.0);
  for_each_whole_point([&](std::size_t point, std::size_t column) { columns[column] = values[point]; });
  for (std::size_t i = 0; i < vertices_of_element; ++i) columns[i] *= vertex_weights_[i];
}

/// By the values that the points of the element have of each column alone.
template <int order>
void Pattern<order>::find_diagonals() {
  std::vector<std::array<double, element_points<order>>> alone(columns_,
                                                               std::array<double, element_points<order>>{});
  const auto at = [&](std::int16_t column, std::size_t point) -> double& {
    return alone[static_cast<std::size_t>(column)][boundary<order>[point]];
  };
  for_each_whole_point(
      [&](std::size_t point, std::size_t column) { alone[column][boundary<order>[point]] = 1; });
  const auto& p = projection<order>();
  for (const auto& [edge, columns] : edges_)
    for (std::size_t i = 0; i < inner<order>; ++i)
      for (std::size_t g = 0; g < both_halves<order>; ++g)
        at(columns[g], first_edge_point + edge * inner<order> + i) = p[i + 1][g];
  for (const auto& [face, columns] : faces_)
    for (std::size_t i = 0; i < inner<order> * inner<order>; ++i)
      for (std::size_t b = 0; b < both_halves<order>; ++b)
        for (std::size_t a = 0; a < both_halves<order>; ++a)
          at(columns[b][a], first_face_point<order> + face * inner<order> * inner<order> + i) =
              p[i / inner<order> + 1][b] * p[i % inner<order> + 1][a];
  for (const auto& values : alone) {
    const auto [stiff, mass] = energies_of<order>(values);
    diagonals_.push_back({stiff, mass});
  }
}

template <int order>
const Pattern<order>& Patterns<order>::of(Splits splits) {
  auto& pattern = made_[splits];
  if (!pattern) pattern = std::make_unique<const Pattern<order>>(splits);
  return *pattern;
}

template <int order>
Energies energies_of(const std::array<double, element_points<order>>& values) noexcept {
  Energies sum;
  for (std::size_t k = 0; k < points<order>; ++k)
    for (std::size_t j = 0; j < points<order>; ++j)
      for (std::size_t i = 0; i < points<order>; ++i) {
        const double value = values[point_at<order>({i, j, k})];
        if (value == 0) continue;
        sum.mass += gll_weights<order>[i] * gll_weights<order>[j] * gll_weights<order>[k] * value * value;
        for (std::size_t m = 0; m < points<order>; ++m)
          sum.stiffness += value * (gll_weights<order>[j] * gll_weights<order>[k] *
                                        stiffness_matrix<order>[i][m] * values[point_at<order>({m, j, k})] +
                                    gll_weights<order>[i] * gll_weights<order>[k] *
                                        stiffness_matrix<order>[j][m] * values[point_at<order>({i, m, k})] +
                                    gll_weights<order>[i] * gll_weights<order>[j] *
                                        stiffness_matrix<order>[k][m] * values[point_at<order>({i, j, m})]);
      }
  return sum;
}

#define TAILRACE_COMPILE(order)   \
  template class Pattern<order>;  \
  template class Patterns<order>; \
  template Energies energies_of<order>(const std::array<double, element_points<order>>&) noexcept;
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
