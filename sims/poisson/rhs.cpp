// SPDX-License-Identifier: BSD-3-Clause
#include "rhs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

/// Where all sides are periodic, the left-hand side has no mean.
void check_mean(mpi::CommView comm, const Options& options, const AlignedVector<double>& values) {
  constexpr double rounding = 1e-10;
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const double mean = poisson::mean(comm, values, options.problem.grid.cells.volume());
  largest = mpi::max(comm, largest);
  mpi::collectively(comm, [&] {
    if (std::abs(mean) <= rounding * largest) return;
    refuse(options,
           fmt::format("has the mean {:.6g}, and all sides are periodic: there is no solution", mean),
           "subtract the mean, or change domain.sides");
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
  if (options.problem.grid.singular()) check_mean(comm, options, values);
  return values;
}

}  // namespace tailrace::poisson
