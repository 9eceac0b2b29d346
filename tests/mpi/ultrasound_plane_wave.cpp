#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "mpi_case.hpp"
#include "solver.hpp"
#include "tailrace/layout/decomposition.hpp"

/// Without loss, layer and source the k-space scheme is exact in time for a plane wave in a homogeneous
/// medium (Tabei, Mast and Waag 2002): an initial pressure cos(k.x) becomes cos(k.x) cos(c |k| t). That holds
/// for any grid size, so it tests odd and prime ones, and grids with fewer planes than ranks, against a
/// closed form.
namespace tailrace::ultrasound {

namespace {

constexpr float c0 = 1500, rho0 = 1000;

double phase_of(const Grid& grid, Index3 waves, Index3 at) {
  const auto turns = [](std::int64_t count, std::int64_t i, std::int64_t n) {
    return static_cast<double>(count * i) / static_cast<double>(n);
  };
  return 2 * std::numbers::pi *
         (turns(waves.x, at.x, grid.points.x) + turns(waves.y, at.y, grid.points.y) +
          turns(waves.z, at.z, grid.points.z));
}

Solver<float> make_solver(mpi::CommView comm, const Grid& grid, Index3 waves, trace::Log& log) {
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  RawMedium<float> raw;
  raw.c0 = Coefficient<float>(c0, grid.points);
  raw.rho0 = Coefficient<float>(rho0, grid.points);
  for (auto& staggered : raw.rho0_staggered) staggered = Coefficient<float>(rho0, grid.points);
  Field<float> initial(grid.points, planes);
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t y = 0; y < grid.points.y; ++y)
      for (std::int64_t x = 0; x < grid.points.x; ++x)
        initial.at({x, y, z}) = static_cast<float>(std::cos(phase_of(grid, waves, {x, y, z})));
  Model<float> model{.grid = grid,
                     .physics = {},
                     .medium = make_medium<float>(std::move(raw), {}, grid, planes),
                     .sources = {}};
  model.sources.initial_pressure = std::move(initial);
  return {comm, std::move(model), log};
}

void check_plane_wave(mpi::CommView comm, Index3 points, Index3 waves) {
  const Grid grid{
      .points = points, .spacing_m = {1e-4, 1.3e-4, 0.8e-4}, .dt_s = 2e-8, .c_ref_m_s = c0, .pml = {}};
  trace::Log log("main");
  auto solver = make_solver(comm, grid, waves, log);
  double k_squared = 0;
  const auto extents = grid.extents();
  const std::array counts{waves.x, waves.y, waves.z};
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    k_squared += std::pow(2 * std::numbers::pi * static_cast<double>(counts[axis]) /
                              (static_cast<double>(extents[axis]) * grid.spacing_m[axis]),
                          2);
  for (StepIndex step = 1; step <= 60; ++step) {
    solver.advance(step);
    if (step % 20 != 0) continue;
    const auto view = solver.field("p");
    const double amplitude = std::cos(c0 * std::sqrt(k_squared) * grid.dt_s * static_cast<double>(step - 1));
    double worst = 0;
    for (std::int64_t z = view.box.lo.z; z < view.box.hi.z; ++z)
      for (std::int64_t y = 0; y < points.y; ++y)
        for (std::int64_t x = 0; x < points.x; ++x) {
          const double found = static_cast<const float*>(
              view.data)[(z - view.box.lo.z) * view.stride_z + y * view.stride_y + x];
          worst = std::max(worst, std::abs(found - amplitude * std::cos(phase_of(grid, waves, {x, y, z}))));
        }
    CHECK_MESSAGE(worst < 2e-5, fmt::format("{} at step {}", worst, step));
  }
}

}  // namespace

MPI_CASE("a plane wave on a prime grid", ranks{1, 2, 3, 4, 7}) {
  check_plane_wave(comm, {13, 11, 7}, {2, 1, 1});
}
MPI_CASE("a plane wave on fewer planes than ranks", ranks{3, 4, 7}) {
  check_plane_wave(comm, {16, 5, 2}, {1, 2, 0});
}
MPI_CASE("a plane wave on an even grid", ranks{1, 2, 3}) {
  check_plane_wave(comm, {24, 20, 18}, {3, 2, 4});
}

}  // namespace tailrace::ultrasound
