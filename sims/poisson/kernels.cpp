// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace tailrace::poisson {

namespace {

/// Where the faces of a block of these extents are in its edges.
std::array<std::size_t, 7> face_places(Index3 n, int dimensions) {
  const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
  const std::array sizes{size(n.y, n.z), size(n.x, n.z), dimensions == 3 ? size(n.x, n.y) : 0};
  std::array<std::size_t, 7> places{};
  for (std::size_t side = 0; side < 6; ++side) places[side + 1] = places[side] + sizes[side / 2];
  return places;
}

}  // namespace

/// A row of a block along x, and those around it. `centre` can be read from -1 to n.
struct Kernels::Row {
  std::size_t first = 0;  ///< the number of its first element in the block
  std::int64_t n = 0, parity = 0;
  const double *centre, *south, *north, *below, *above;
};

Kernels::Kernels(const Problem& problem, const BlockGrid& blocks) : problem_(problem), blocks_(blocks) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.grid.dimensions); ++axis) {
    factor_[axis] = 1 / (problem.grid.spacing_m[axis] * problem.grid.spacing_m[axis]);
    diagonal_ += 2 * factor_[axis];
  }
}

Values Kernels::edges(int number, const Values& values) const {
  const Index3 n = blocks_.box(number).extents();
  const auto places = face_places(n, problem_.grid.dimensions);
  auto edges = Values::for_overwrite(places.back());
  const auto copy = [&](std::size_t side, Index3 from, Index3 to) {
    double* out = edges.values().data() + places[side];
    for (std::int64_t z = from.z; z < to.z; ++z)
      for (std::int64_t y = from.y; y < to.y; ++y) {
        const double* const row = values.begin() + (z * n.y + y) * n.x;
        out = std::copy(row + from.x, row + to.x, out);
      }
  };
  copy(0, {}, {1, n.y, n.z});
  copy(1, {n.x - 1, 0, 0}, n);
  copy(2, {}, {n.x, 1, n.z});
  copy(3, {0, n.y - 1, 0}, n);
  if (problem_.grid.dimensions == 2) return edges;
  copy(4, {}, {n.x, n.y, 1});
  copy(5, {0, 0, n.z - 1}, n);
  return edges;
}

bool Kernels::at_wall(int number, int side) const noexcept {
  const auto axis = static_cast<std::size_t>(side / 2);
  if (problem_.grid.periodic[axis]) return false;
  const Box box = blocks_.box(number);
  const std::array ranges{box.x(), box.y(), box.z()};
  return side % 2 == 0 ? ranges[axis].begin == 0 : ranges[axis].end == problem_.grid.points(side / 2);
}

/// The values beyond a side of a block: the opposite face of its neighbour. Nothing at a wall.
const double* Kernels::face(int number, int side, const Neighbours& around) const noexcept {
  if (at_wall(number, side)) return nullptr;
  const Index3 n = blocks_.box(blocks_.neighbour(number, side)).extents();
  const auto places = face_places(n, problem_.grid.dimensions);
  const auto at = static_cast<std::size_t>(side);
  return around[at]->begin() + places[at % 2 == 0 ? at + 1 : at - 1];
}

template <class Each>
void Kernels::each_row(int number, const Values& values, const Neighbours& around, double wall,
                       const Each& each) const {
  const Box box = blocks_.box(number);
  const Index3 n = box.extents();
  std::array<const double*, 6> faces{};
  for (int side = 0; side < 2 * problem_.grid.dimensions; ++side)
    faces[static_cast<std::size_t>(side)] = face(number, side, around);
  const std::vector<double> beyond(static_cast<std::size_t>(n.x), wall);
  std::vector<double> centre(static_cast<std::size_t>(n.x) + 2);
  const auto next = [&](bool inside, const double* row, const double* face, std::int64_t i) {
    if (inside) return row;
    return face != nullptr ? face + i * n.x : beyond.data();
  };
  for (std::int64_t z = 0; z < n.z; ++z)
    for (std::int64_t y = 0; y < n.y; ++y) {
      const std::int64_t line = z * n.y + y, first = line * n.x;
      const double* const row = values.begin() + first;
      std::copy(row, row + n.x, centre.begin() + 1);
      centre.front() = faces[0] != nullptr ? faces[0][line] : wall;
      centre.back() = faces[1] != nullptr ? faces[1][line] : wall;
      each(Row{.first = static_cast<std::size_t>(first),
               .n = n.x,
               .parity = (box.lo.x + box.lo.y + y + box.lo.z + z) % 2,
               .centre = centre.data() + 1,
               .south = next(y > 0, row - n.x, faces[2], z),
               .north = next(y + 1 < n.y, row + n.x, faces[3], z),
               .below = next(z > 0, row - n.x * n.y, faces[4], y),
               .above = next(z + 1 < n.z, row + n.x * n.y, faces[5], y)});
    }
}

/// The weighted sum of the values around a point.
template <int dimensions>
double Kernels::around_of(const Row& row, std::int64_t x) const noexcept {
  const double plane =
      factor_[0] * (row.centre[x - 1] + row.centre[x + 1]) + factor_[1] * (row.south[x] + row.north[x]);
  if constexpr (dimensions == 2) return plane;
  return plane + factor_[2] * (row.below[x] + row.above[x]);
}

/// A new block, whose value at a point is `value(row, x, around)`, where `around` is
/// the weighted sum of the values around it.
template <class Value>
Values Kernels::map(int number, const Values& values, const Neighbours& around, double wall,
                    const Value& value) const {
  auto out = Values::for_overwrite(values.size());
  const auto rows = [&]<int dimensions>(std::integral_constant<int, dimensions>) {
    each_row(number, values, around, wall, [&](const Row& row) {
      double* const to = out.values().data() + row.first;
      for (std::int64_t x = 0; x < row.n; ++x) to[x] = value(row, x, around_of<dimensions>(row, x));
    });
  };
  if (problem_.grid.dimensions == 2)
    rows(std::integral_constant<int, 2>());
  else
    rows(std::integral_constant<int, 3>());
  return out;
}

Values Kernels::jacobi(int number, const Values& u, const Values& rhs, const Neighbours& around) const {
  const double scale = 1 / diagonal_;
  return map(number, u, around, problem_.wall, [&](const Row& row, std::int64_t x, double sum) {
    return (rhs.begin()[row.first + static_cast<std::size_t>(x)] + sum) * scale;
  });
}

Values Kernels::relax(int number, int colour, const Values& u, const Values& rhs,
                      const Neighbours& around) const {
  const double scale = 1 / diagonal_;
  return map(number, u, around, problem_.wall, [&](const Row& row, std::int64_t x, double sum) {
    const double relaxed = (rhs.begin()[row.first + static_cast<std::size_t>(x)] + sum) * scale;
    return (row.parity + x) % 2 == colour ? relaxed : row.centre[x];
  });
}

Values Kernels::residual(int number, const Values& u, const Values& rhs, const Neighbours& around) const {
  return map(number, u, around, problem_.wall, [&](const Row& row, std::int64_t x, double sum) {
    return rhs.begin()[row.first + static_cast<std::size_t>(x)] + sum - diagonal_ * row.centre[x];
  });
}

Values Kernels::apply(int number, const Values& p, const Neighbours& around) const {
  return map(number, p, around, 0,
             [&](const Row& row, std::int64_t x, double sum) { return diagonal_ * row.centre[x] - sum; });
}

namespace {

/// The sum of term(i) for all i below `count`, in eight parts, which are added up in an order that is always
/// the same: bits repeat, and processors add several at a time.
template <class Term>
double sum_of(std::size_t count, const Term& term) {
  constexpr std::size_t parts = 8;
  std::array<double, parts> sums{};
  std::size_t i = 0;
  for (; i + parts <= count; i += parts)
    for (std::size_t part = 0; part < parts; ++part) sums[part] += term(i + part);
  for (std::size_t part = 0; i < count; ++i, ++part) sums[part] += term(i);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace

double dot(const Values& a, const Values& b) noexcept {
  const double *const x = a.begin(), *const y = b.begin();
  return sum_of(a.size(), [=](std::size_t i) { return x[i] * y[i]; });
}

Updated update(double alpha, const Values& u, const Values& r, const Values& p, const Values& q) {
  Updated out{Values::for_overwrite(u.size()), Values::for_overwrite(u.size()), 0};
  const double *const from_u = u.begin(), *const from_r = r.begin(), *const from_p = p.begin(),
                      *const from_q = q.begin();
  double *const to_u = out.u.values().data(), *const to_r = out.r.values().data();
  out.square = sum_of(u.size(), [=](std::size_t i) {
    to_u[i] = from_u[i] + alpha * from_p[i];
    const double left = from_r[i] - alpha * from_q[i];
    to_r[i] = left;
    return left * left;
  });
  return out;
}

Values sum(const Values& a, double factor, const Values& b) {
  auto out = Values::for_overwrite(a.size());
  const double *const from_a = a.begin(), *const from_b = b.begin();
  double* const to = out.values().data();
  for (std::size_t i = 0; i < a.size(); ++i) to[i] = from_a[i] + factor * from_b[i];
  return out;
}

}  // namespace tailrace::poisson
