// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "basis.hpp"
#include "boundary.hpp"
#include "entities.hpp"

namespace tailrace::heat {

/// The operators between mortar points and the boundary points of an element whose edges and faces are split
/// in one way. A column is a mortar point on its boundary, in the order of `for_each_entity`. On a split face
/// the operator is a product of two, one for each of its axes.
template <int order>
class Pattern {
 public:
  explicit Pattern(Splits splits);

  /// Whether each column is a point of the element: mortar values are its values.
  [[nodiscard]] bool is_plain() const noexcept { return splits_ == 0; }
  [[nodiscard]] bool is_split(std::size_t entity) const noexcept { return first_column_[entity] < 0; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  /// The column at which the points of a vertex, edge or face begin that is not split.
  [[nodiscard]] std::size_t first_column(std::size_t entity) const noexcept {
    return static_cast<std::size_t>(first_column_[entity]);
  }

  /// Sets the values of the points inside of split edges and faces, from those of the columns.
  template <class Column>
  void project(Column column, BoundaryValues<order>& values) const {
    for (const auto& [edge, columns] : edges_) {
      Along along;
      for (std::size_t g = 0; g < both_halves<order>; ++g) along[g] = column(columns[g]);
      project_edge(along, &values[first_edge_point + edge * inner<order>]);
    }
    for (const auto& [face, columns] : faces_) {
      Across across;
      for (std::size_t b = 0; b < both_halves<order>; ++b)
        for (std::size_t a = 0; a < both_halves<order>; ++a) across[b][a] = column(columns[b][a]);
      project_face(across, &values[first_face_point<order> + face * inner<order> * inner<order>]);
    }
  }
  /// The values of all boundary points from those of the columns.
  template <class Column>
  [[nodiscard]] BoundaryValues<order> to_points(Column column) const {
    BoundaryValues<order> values;
    for_each_whole_point([&](std::size_t point, std::size_t at) { values[point] = column(at); });
    project(column, values);
    return values;
  }
  /// The transpose: sets all columns to sums of what the boundary points have.
  void to_columns(const BoundaryValues<order>& values, double* columns) const noexcept;
  /// Sets columns to what the element counts in the average over elements: 0 where it has no point at the
  /// place of a mortar point that its neighbours have.
  void to_averages(const BoundaryValues<order>& values, double* columns) const noexcept;

  /// What a column contributes to the diagonal of the operator: `stiffness` times the factor of the
  /// stiffness, and `mass` times that of the mass.
  struct Diagonal {
    double stiffness = 0, mass = 0;
  };
  [[nodiscard]] const std::vector<Diagonal>& diagonals() const noexcept { return diagonals_; }

 private:
  struct Columns;
  using Along = std::array<double, both_halves<order>>;
  using Across = std::array<Along, both_halves<order>>;
  struct SplitEdge {
    std::size_t edge = 0;
    std::array<std::int16_t, both_halves<order>> columns{};
  };
  struct SplitFace {
    std::size_t face = 0;
    std::array<std::array<std::int16_t, both_halves<order>>, both_halves<order>> columns{};
  };
  static void project_edge(const Along& along, double* values) noexcept;
  static void project_face(const Across& across, double* values) noexcept;
  static Across spread_face(const double* values) noexcept;
  /// Calls `visit(boundary point, column)` for those that are a mortar point themselves.
  template <class Visit>
  void for_each_whole_point(Visit visit) const {
    for (std::size_t entity = 0; entity < entities_of_element; ++entity) {
      if (is_split(entity)) continue;
      const std::size_t first = first_of_entity<order>(entity),
                        count = first_of_entity<order>(entity + 1) - first;
      for (std::size_t i = 0; i < count; ++i) visit(first + i, first_column(entity) + i);
    }
  }
  void find_splits(const Columns& columns);
  void find_diagonals();

  Splits splits_;
  std::size_t columns_ = 0;
  std::array<std::int16_t, entities_of_element> first_column_{};  ///< or -1: split
  std::array<double, vertices_of_element> vertex_weights_{};      ///< in the average
  std::vector<SplitEdge> edges_;
  std::vector<SplitFace> faces_;
  std::vector<Diagonal> diagonals_;
};

/// The patterns met so far, each made once.
template <int order>
class Patterns {
 public:
  const Pattern<order>& of(Splits splits);

 private:
  std::unordered_map<Splits, std::unique_ptr<const Pattern<order>>> made_;
};

/// The sum over the points of a product of 1-D factors, as the mass and the stiffness of the cube of side 2
/// have it: values of both operators for a vector. @local
struct Energies {
  double stiffness = 0, mass = 0;
};
template <int order>
Energies energies_of(const std::array<double, element_points<order>>& values) noexcept;

}  // namespace tailrace::heat
