// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "basis.hpp"
#include "entities.hpp"

namespace tailrace::heat {

inline constexpr std::size_t boundary_points = element_points - inner_points;

/// The operators between mortar points and the boundary points of an element whose edges and faces are split
/// in one way. A column is a mortar point on its boundary, in the order of `for_each_entity`.
class Pattern {
 public:
  explicit Pattern(Splits splits);

  /// Whether each column is a point of the element: mortar values are its values.
  [[nodiscard]] bool is_plain() const noexcept { return splits_ == 0; }
  [[nodiscard]] std::size_t columns() const noexcept { return column_first_.size() - 1; }
  /// The point of the element where a column of a plain pattern is.
  [[nodiscard]] static const std::array<std::int32_t, boundary_points>& plain_points() noexcept;

  /// Calls `visit(point, value)` for the boundary points, with their values from those of the columns.
  template <class Column, class Visit>
  void to_points(Column column, Visit visit) const {
    for (std::size_t row = 0; row < boundary_points; ++row) {
      double sum = 0;
      for (auto e = row_first_[row]; e < row_first_[row + 1]; ++e)
        sum += row_entries_[static_cast<std::size_t>(e)].factor *
               column(row_entries_[static_cast<std::size_t>(e)].at);
      visit(row_points_[row], sum);
    }
  }
  /// The transpose: calls `visit(column, sum)` with sums of what the boundary points have.
  template <class Point, class Visit>
  void to_columns(Point point, Visit visit) const {
    for (std::size_t column = 0; column + 1 < column_first_.size(); ++column) {
      double sum = 0;
      for (auto e = column_first_[column]; e < column_first_[column + 1]; ++e)
        sum += column_entries_[static_cast<std::size_t>(e)].factor *
               point(column_entries_[static_cast<std::size_t>(e)].at);
      visit(static_cast<std::int32_t>(column), sum);
    }
  }

  /// What a column is in the average over elements.
  struct Average {
    std::int32_t point = 0;  ///< of the element, at the same place
    double weight = 0;       ///< 0 where the element has no point at this place that its neighbours have
  };
  [[nodiscard]] const std::vector<Average>& averages() const noexcept { return averages_; }

  /// What a column contributes to the diagonal of the operator: `stiffness` times the factor of the
  /// stiffness, and `mass` times that of the mass.
  struct Diagonal {
    double stiffness = 0, mass = 0;
  };
  [[nodiscard]] const std::vector<Diagonal>& diagonals() const noexcept { return diagonals_; }

 private:
  struct Entry {
    std::int32_t at = 0;
    double factor = 0;
  };
  struct Columns;
  void add_row(std::size_t point, const std::vector<Entry>& entries);
  void add_edge(const Columns& columns, std::size_t edge);
  void add_face(const Columns& columns, std::size_t face);
  void transpose(std::size_t columns);
  void find_averages(const Columns& columns);
  void find_diagonals();

  Splits splits_;
  std::vector<std::int32_t> row_points_, row_first_{0}, column_first_;
  std::vector<Entry> row_entries_, column_entries_;
  std::vector<Average> averages_;
  std::vector<Diagonal> diagonals_;
};

/// The patterns met so far, each made once.
class Patterns {
 public:
  const Pattern& of(Splits splits);

 private:
  std::unordered_map<Splits, std::unique_ptr<const Pattern>> made_;
};

/// The sum over the points of a product of 1-D factors, as the mass and the stiffness of the cube of side 2
/// have it: values of both operators for a vector. @local
struct Energies {
  double stiffness = 0, mass = 0;
};
Energies energies_of(const std::array<double, element_points>& values) noexcept;

}  // namespace tailrace::heat
