// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.hpp"

namespace tailrace::heat {

namespace {

constexpr std::size_t end = points - 1;

constexpr std::size_t point_at(const std::array<std::size_t, 3>& at) noexcept {
  return (at[2] * points + at[1]) * points + at[0];
}

/// The point number `i` of an edge.
constexpr std::size_t point_of_edge(std::size_t edge, std::size_t i) noexcept {
  const std::size_t axis = edge / 4;
  std::array<std::size_t, 3> at{};
  at[axis] = i;
  at[(axis + 1) % 3] = (edge & 1U) * end;
  at[(axis + 2) % 3] = (edge >> 1U & 1U) * end;
  return point_at(at);
}

constexpr std::size_t point_of_face(std::size_t face, std::size_t i, std::size_t j) noexcept {
  const auto [u, v] = axes_of_face(face / 2);
  std::array<std::size_t, 3> at{};
  at[face / 2] = (face & 1U) * end;
  at[u] = i;
  at[v] = j;
  return point_at(at);
}

constexpr std::size_t vertex_of_edge(std::size_t edge, std::size_t side) noexcept {
  const std::size_t axis = edge / 4;
  return side << axis | (edge & 1U) << (axis + 1) % 3 | (edge >> 1U & 1U) << (axis + 2) % 3;
}

/// The edge of a face that runs along one of its axes, at a side of the other one.
constexpr std::size_t edge_of_face(std::size_t face, std::size_t along, std::size_t other,
                                   std::size_t side) noexcept {
  const std::size_t normal = face / 2, at_face = face & 1U;
  const bool other_first = (along + 1) % 3 == other;
  static_cast<void>(normal);
  return along * 4 + (other_first ? side | at_face << 1U : at_face | side << 1U);
}

constexpr std::size_t of_split_edge = 2 * inner + 1;
constexpr std::size_t of_split_face = of_split_edge * of_split_edge;

}  // namespace

/// Where the columns of a pattern are.
struct Pattern::Columns {
  explicit Columns(Splits given) : splits(given) {
    std::size_t next = vertices_of_element;
    for (std::size_t e = 0; e < edges_of_element; ++e) {
      edge[e] = next;
      next += splits_edge(splits, e) ? of_split_edge : inner;
    }
    for (std::size_t f = 0; f < faces_of_element; ++f) {
      face[f] = next;
      next += splits_face(splits, f) ? of_split_face : inner * inner;
    }
    count = next;
  }
  /// The column of one of the 9 values along a split edge.
  [[nodiscard]] std::size_t along(std::size_t e, std::size_t g) const noexcept {
    if (g == 0 || g + 1 == both_halves) return vertex_of_edge(e, g == 0 ? 0 : 1);
    return edge[e] + g - 1;
  }
  /// The column of one of the 9 x 9 values of a split face.
  [[nodiscard]] std::size_t on(std::size_t f, std::size_t a, std::size_t b) const noexcept {
    const auto [u, v] = axes_of_face(f / 2);
    const auto is_end = [](std::size_t g) { return g == 0 || g + 1 == both_halves; };
    if (is_end(b)) return along(edge_of_face(f, u, v, b == 0 ? 0 : 1), a);
    if (is_end(a)) return along(edge_of_face(f, v, u, a == 0 ? 0 : 1), b);
    const auto half = [](std::size_t g) { return g < points ? std::size_t{0} : std::size_t{1}; };
    const auto in_half = [&](std::size_t g) { return g - 1 - half(g) * (inner + 1); };
    const bool a_middle = a + 1 == points, b_middle = b + 1 == points;
    if (a_middle && b_middle) return face[f];
    if (b_middle) return face[f] + 1 + half(a) * inner + in_half(a);
    if (a_middle) return face[f] + 1 + 2 * inner + half(b) * inner + in_half(b);
    const std::size_t quarter = half(b) * 2 + half(a);
    return face[f] + 1 + 4 * inner + quarter * inner * inner + in_half(b) * inner + in_half(a);
  }

  Splits splits;
  std::array<std::size_t, edges_of_element> edge{};
  std::array<std::size_t, faces_of_element> face{};
  std::size_t count = 0;
};

Pattern::Pattern(Splits splits) : splits_(splits) {
  const Columns columns(splits);
  for (std::size_t i = 0; i < vertices_of_element; ++i)
    add_row(point_at({(i & 1U) * end, (i >> 1U & 1U) * end, (i >> 2U) * end}),
            {{static_cast<std::int32_t>(i), 1}});
  for (std::size_t edge = 0; edge < edges_of_element; ++edge) add_edge(columns, edge);
  for (std::size_t face = 0; face < faces_of_element; ++face) add_face(columns, face);
  transpose(columns.count);
  find_averages(columns);
  find_diagonals();
}

void Pattern::add_row(std::size_t point, const std::vector<Entry>& entries) {
  row_points_.push_back(static_cast<std::int32_t>(point));
  row_entries_.insert(row_entries_.end(), entries.begin(), entries.end());
  row_first_.push_back(static_cast<std::int32_t>(row_entries_.size()));
}

void Pattern::add_edge(const Columns& columns, std::size_t edge) {
  for (std::size_t i = 1; i < end; ++i) {
    std::vector<Entry> entries;
    if (!splits_edge(splits_, edge))
      entries.push_back({static_cast<std::int32_t>(columns.edge[edge] + i - 1), 1});
    else
      for (std::size_t g = 0; g < both_halves; ++g)
        entries.push_back({static_cast<std::int32_t>(columns.along(edge, g)), projection()[i][g]});
    add_row(point_of_edge(edge, i), entries);
  }
}

void Pattern::add_face(const Columns& columns, std::size_t face) {
  for (std::size_t j = 1; j < end; ++j)
    for (std::size_t i = 1; i < end; ++i) {
      std::vector<Entry> entries;
      if (!splits_face(splits_, face))
        entries.push_back({static_cast<std::int32_t>(columns.face[face] + (j - 1) * inner + i - 1), 1});
      else
        for (std::size_t b = 0; b < both_halves; ++b)
          for (std::size_t a = 0; a < both_halves; ++a)
            entries.push_back(
                {static_cast<std::int32_t>(columns.on(face, a, b)), projection()[i][a] * projection()[j][b]});
      add_row(point_of_face(face, i, j), entries);
    }
}

void Pattern::transpose(std::size_t columns) {
  column_first_.assign(columns + 1, 0);
  for (const Entry& entry : row_entries_) ++column_first_[static_cast<std::size_t>(entry.at) + 1];
  for (std::size_t c = 0; c < columns; ++c) column_first_[c + 1] += column_first_[c];
  column_entries_.resize(row_entries_.size());
  auto next = column_first_;
  for (std::size_t row = 0; row < row_points_.size(); ++row)
    for (auto e = row_first_[row]; e < row_first_[row + 1]; ++e) {
      const Entry& entry = row_entries_[static_cast<std::size_t>(e)];
      column_entries_[static_cast<std::size_t>(next[static_cast<std::size_t>(entry.at)]++)] = {
          row_points_[row], entry.factor};
    }
}

/// A vertex counts by how many of its three faces are not split: a third for each.
void Pattern::find_averages(const Columns& columns) {
  averages_.resize(columns.count);
  for (std::size_t i = 0; i < vertices_of_element; ++i) {
    int whole = 0;
    for (std::size_t d = 0; d < 3; ++d) whole += splits_face(splits_, 2 * d + (i >> d & 1U)) ? 0 : 1;
    averages_[i] = {row_points_[i], whole / 3.0};
  }
  const auto add_all = [&](std::size_t first, std::size_t count, std::size_t row) {
    for (std::size_t i = 0; i < count; ++i) averages_[first + i] = {row_points_[row + i], 1};
  };
  std::size_t row = vertices_of_element;
  for (std::size_t edge = 0; edge < edges_of_element; ++edge, row += inner)
    if (!splits_edge(splits_, edge)) add_all(columns.edge[edge], inner, row);
  for (std::size_t face = 0; face < faces_of_element; ++face, row += inner * inner)
    if (!splits_face(splits_, face)) add_all(columns.face[face], inner * inner, row);
}

void Pattern::find_diagonals() {
  for (std::size_t column = 0; column + 1 < column_first_.size(); ++column) {
    std::array<double, element_points> values{};
    for (auto e = column_first_[column]; e < column_first_[column + 1]; ++e)
      values[static_cast<std::size_t>(column_entries_[static_cast<std::size_t>(e)].at)] =
          column_entries_[static_cast<std::size_t>(e)].factor;
    const auto [stiff, mass] = energies_of(values);
    diagonals_.push_back({stiff, mass});
  }
}

const std::array<std::int32_t, boundary_points>& Pattern::plain_points() noexcept {
  static const auto list = [] {
    const Pattern plain(0);
    std::array<std::int32_t, boundary_points> made{};
    std::copy(plain.row_points_.begin(), plain.row_points_.end(), made.begin());
    return made;
  }();
  return list;
}

const Pattern& Patterns::of(Splits splits) {
  auto& pattern = made_[splits];
  if (!pattern) pattern = std::make_unique<const Pattern>(splits);
  return *pattern;
}

Energies energies_of(const std::array<double, element_points>& values) noexcept {
  Energies sum;
  for (std::size_t k = 0; k < points; ++k)
    for (std::size_t j = 0; j < points; ++j)
      for (std::size_t i = 0; i < points; ++i) {
        const double value = values[point_at({i, j, k})];
        if (value == 0) continue;
        sum.mass += gll_weights[i] * gll_weights[j] * gll_weights[k] * value * value;
        for (std::size_t m = 0; m < points; ++m)
          sum.stiffness +=
              value *
              (gll_weights[j] * gll_weights[k] * stiffness_matrix[i][m] * values[point_at({m, j, k})] +
               gll_weights[i] * gll_weights[k] * stiffness_matrix[j][m] * values[point_at({i, m, k})] +
               gll_weights[i] * gll_weights[j] * stiffness_matrix[k][m] * values[point_at({i, j, m})]);
      }
  return sum;
}

}  // namespace tailrace::heat
