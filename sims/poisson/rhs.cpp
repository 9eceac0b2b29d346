// SPDX-License-Identifier: BSD-3-Clause
#include "rhs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "h5/file.hpp"
#include "mean.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::poisson {

namespace {

/// (z, y, x), or (y, x) in the plane.
h5::Shape shape_of(Index3 n, std::size_t indices) {
  const h5::Shape all{static_cast<std::uint64_t>(n.z), static_cast<std::uint64_t>(n.y),
                      static_cast<std::uint64_t>(n.x)};
  return {all.end() - static_cast<std::ptrdiff_t>(indices), all.end()};
}

[[noreturn]] void refuse(const Options& options, const std::string& what, const std::string& fix) {
  Problems problems(options.subject());
  problems.add("problem.rhs: " + what, fix);
  problems.throw_if_any();
  std::abort();
}

Fill open_dataset(const Options& options) {
  const auto& [formula, path, dataset, value] = options.rhs;
  const auto& grid = options.problem.grid;
  const auto file = std::make_shared<h5::File>(h5::File::open(path));
  if (!file->has_dataset(dataset))
    refuse(options, fmt::format("{} holds no dataset {}", path, dataset),
           "tailrace inspect FILE lists what it holds");
  const auto type = file->type(dataset);
  if (type != h5::ElementType::float32 && type != h5::ElementType::float64)
    refuse(options, fmt::format("{}:{} holds elements of type {}", path, dataset, file->type_text(dataset)),
           "float32 or float64");
  const auto shape = file->shape(dataset);
  const std::size_t indices = shape.size() == 2 && grid.dimensions == 2 ? 2 : 3;
  if (const auto wanted = shape_of(grid.cells, indices); shape != wanted)
    refuse(options, fmt::format("{}:{} has the shape {}", path, dataset, h5::to_string(shape)),
           fmt::format("{}, the slowest index first", h5::to_string(wanted)));
  return [file, dataset = dataset, indices](const Box& box, std::span<double> out) {
    file->read_hyperslab<double>(dataset, shape_of(box.lo, indices), shape_of(box.extents(), indices), out);
  };
}

/// Refuses values that are no numbers.
void check_finite(const Options& options, const Box& own, const AlignedVector<double>& values) {
  const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const auto at = bad - values.begin();
  const Index3 n = own.extents();
  refuse(options,
         fmt::format("is {} at x, y, z = {}, {}, {}", *bad, own.lo.x + at % n.x, own.lo.y + at / n.x % n.y,
                     own.lo.z + at / (n.x * n.y)),
         "numbers");
}

/// The same on all ranks.
double largest_of(mpi::CommView comm, const AlignedVector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return mpi::max(comm, largest);
}

/// A formula may be 0 at all points of a grid but for rounding, which is no right-hand side.
void drop_rounding(mpi::CommView comm, double size, AlignedVector<double>& values) {
  constexpr double rounding = 1e-12;
  if (size > 0 && largest_of(comm, values) <= rounding * size) std::fill(values.begin(), values.end(), 0.0);
}

/// Where all sides are periodic, the left-hand side has no mean.
void check_mean(mpi::CommView comm, const Options& options, const AlignedVector<double>& values) {
  constexpr double rounding = 1e-10;
  const double mean = poisson::mean(comm, values, options.problem.grid.cells.volume());
  const double largest = largest_of(comm, values);
  mpi::collectively(comm, [&] {
    if (std::abs(mean) <= rounding * largest) return;
    refuse(options,
           fmt::format("has the mean {:.6g}, and all sides are periodic: there is no solution", mean),
           "subtract the mean, or change domain.sides");
  });
}

/// What u on the Dirichlet sides adds to the right-hand side at a point.
double from_sides(const Problem& problem, Index3 point) {
  const std::array at{point.x, point.y, point.z};
  double sum = 0;
  for (int axis = 0; axis < problem.grid.dimensions; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (problem.grid.periodic[i]) continue;
    const int sides = (at[i] == 0 ? 1 : 0) + (at[i] == problem.grid.points(axis) - 1 ? 1 : 0);
    if (sides > 0) sum += sides * problem.wall / (problem.grid.spacing_m[i] * problem.grid.spacing_m[i]);
  }
  return sum;
}

/// The residual of u = 0, with which all methods begin.
AlignedVector<double> first_residual(const Problem& problem, const Box& own, AlignedVector<double> values) {
  if (problem.wall == 0) return values;
  std::size_t i = 0;
  for (auto z = own.lo.z; z < own.hi.z; ++z)
    for (auto y = own.lo.y; y < own.hi.y; ++y)
      for (auto x = own.lo.x; x < own.hi.x; ++x) values[i++] += from_sides(problem, {x, y, z});
  return values;
}

/// The root of the sum of the squares, which themselves need not be in the range of numbers; the same bits on
/// any ranks.
double norm(mpi::CommView comm, const AlignedVector<double>& values, double largest) {
  AlignedVector<double> squares(values);
  for (double& value : squares) value = value / largest * (value / largest);
  return largest * std::sqrt(mean(comm, squares, 1));
}

/// The methods compare sums of squares of the residual: they must be numbers, down to the tolerance.
void check_squares(mpi::CommView comm, const Options& options, const AlignedVector<double>& residual) {
  using Limits = std::numeric_limits<double>;
  constexpr double surely = 1e100, rounding = 1e-16;
  const double largest = largest_of(comm, residual);
  if (largest == 0 || (largest < surely && largest > 1 / surely)) return;
  const double whole = std::isfinite(largest) ? norm(comm, residual, largest) : largest;
  const double tolerance = options.problem.tolerance;
  const double least = tolerance > 0 ? whole * std::max(tolerance, rounding) : whole;
  const bool small = least < std::sqrt(Limits::min());
  if (!small && whole < std::sqrt(Limits::max())) return;
  mpi::collectively(comm, [&] {
    refuse(options,
           fmt::format("the residual is up to {:.3g} at first, and its square too {} for a number", largest,
                       small ? "small" : "large"),
           fmt::format("scale problem.rhs{}, and u with it, to values near 1",
                       options.problem.wall == 0 ? "" : " and problem.boundary"));
  });
}

}  // namespace

void complete_problem(Options& options) {
  auto& problem = options.problem;
  const auto& rhs = options.rhs;
  if (!rhs.file.empty()) {
    problem.rhs = open_dataset(options);
  } else if (!rhs.formula.empty()) {
    auto formula = find_formula(rhs.formula, problem.grid);
    problem.rhs = std::move(formula.rhs), problem.solution = std::move(formula.solution);
    problem.size = formula.size;
  } else {
    problem.rhs = [value = rhs.value](const Box&, std::span<double> out) {
      std::fill(out.begin(), out.end(), value);
    };
  }
}

AlignedVector<double> read_rhs(mpi::CommView comm, const Options& options, const Box& own) {
  AlignedVector<double> values(static_cast<std::size_t>(own.volume()));
  mpi::collectively(comm, [&] {
    if (!own.empty()) options.problem.rhs(own, values);
    check_finite(options, own, values);
  });
  if (options.problem.grid.singular()) {
    drop_rounding(comm, options.problem.size, values);
    check_mean(comm, options, values);
  }
  check_squares(comm, options, first_residual(options.problem, own, values));
  return values;
}

}  // namespace tailrace::poisson
