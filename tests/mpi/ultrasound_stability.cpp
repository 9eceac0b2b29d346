// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "mpi_case.hpp"
#include "solver.hpp"
#include "stability.hpp"

/// The limit that the program states is the one at which the solver turns unstable.
namespace tailrace::ultrasound {

namespace {

/// Largest pressure after 300 steps from a start of 1 at one point, with a homogeneous medium faster than the
/// reference speed and a time step of `share` times the limit.
double peak_after(mpi::CommView comm, Index3 points, double share) {
  constexpr double speed_m_s = 2000;
  Grid grid{.points = points, .spacing_m = {1e-4, 1.2e-4, 0.9e-4}, .dt_s = 0, .c_ref_m_s = 1500, .pml = {}};
  grid.dt_s = share * largest_stable_dt_s(grid, speed_m_s).value();
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  RawMedium<double> raw;
  raw.c0 = Coefficient<double>(speed_m_s, grid.points);
  raw.rho0 = Coefficient<double>(1000, grid.points);
  for (auto& staggered : raw.rho0_staggered) staggered = Coefficient<double>(1000, grid.points);
  Model<double> model{.grid = grid,
                      .physics = {},
                      .medium = make_medium<double>(std::move(raw), {}, grid, planes),
                      .sources = {}};
  Field<double> initial(grid.folded(), planes);
  const Index3 n = grid.folded();
  for (std::int64_t z = planes.begin; z < planes.end; ++z) std::fill_n(initial.plane(z), n.x * n.y, 0.0);
  if (planes.contains(0)) initial.at({0, 0, 0}) = 1;
  model.sources.initial_pressure = std::move(initial);
  trace::Log log("main");
  Solver<double> solver(comm, std::move(model), log);
  for (StepIndex step = 1; step <= 300; ++step) solver.advance(step);
  const auto view = solver.field("p");
  double peak = 0;
  const auto count = planes.size() > 0 ? view.box.extents().x : 0;
  for (std::int64_t x = 0; x < count; ++x)
    peak = std::fmax(peak, std::abs(static_cast<const double*>(view.data)[x]));
  return mpi::max(comm, peak);
}

void check_limit(mpi::CommView comm, Index3 points) {
  CHECK(peak_after(comm, points, 0.99) < 2);
  CHECK(peak_after(comm, points, 1.02) > 1e3);
}

}  // namespace

MPI_CASE("a lossless medium turns unstable at the limit stated", ranks{1, 2, 3}) {
  check_limit(comm, {12, 10, 8});
}
MPI_CASE("a lossless medium of two dimensions turns unstable at the limit stated", ranks{1, 2, 3}) {
  check_limit(comm, {12, 10, 1});
}
MPI_CASE("odd grids have a somewhat larger limit, which holds too", ranks{1, 3}) {
  check_limit(comm, {9, 11, 7});
}
MPI_CASE("up to the reference speed every time step is stable", ranks{1}) {
  const Grid grid{
      .points = {8, 8, 8}, .spacing_m = {1e-4, 1e-4, 1e-4}, .dt_s = 1, .c_ref_m_s = 1500, .pml = {}};
  CHECK_FALSE(largest_stable_dt_s(grid, 1500).has_value());
  CHECK(largest_stable_dt_s(grid, 1501).has_value());
}

}  // namespace tailrace::ultrasound
