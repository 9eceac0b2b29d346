// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "mpi_case.hpp"
#include "solver.hpp"

/// Without loss, layer and source the k-space scheme is exact in time for a plane wave in a homogeneous
/// medium (Tabei, Mast and Waag 2002): an initial pressure cos(k.x) becomes cos(k.x) cos(c |k| t), and a
/// velocity component k_a / (|k| rho0 c) sin(k.x) sin(c |k| t). That holds for any grid size, so it tests odd
/// and prime ones, two and three dimensions, both precisions, and grids with fewer planes than ranks, against
/// a closed form.
namespace tailrace::ultrasound {

namespace {

constexpr double c0 = 1500, rho0 = 1000;

/// A wave with so many periods along each axis of the grid.
struct Wave {
  Grid grid;
  std::array<std::int64_t, axis_count> periods{};

  [[nodiscard]] double wavenumber_of(std::size_t axis) const {
    return 2 * std::numbers::pi * static_cast<double>(periods[axis]) /
           (static_cast<double>(grid.extents()[axis]) * grid.spacing_m[axis]);
  }
  [[nodiscard]] double wavenumber() const {
    return std::hypot(wavenumber_of(0), wavenumber_of(1), wavenumber_of(2));
  }
  /// k.x at a grid point, moved by `shift` cells along `axis`.
  [[nodiscard]] double phase(Index3 at, std::size_t axis = 0, double shift = 0) const {
    const std::array<std::int64_t, axis_count> index{at.x, at.y, at.z};
    double sum = wavenumber_of(axis) * shift * grid.spacing_m[axis];
    for (std::size_t a = 0; a < axis_count; ++a)
      sum += 2 * std::numbers::pi * static_cast<double>(periods[a] * index[a] % grid.extents()[a]) /
             static_cast<double>(grid.extents()[a]);
    return sum;
  }
};

/// Largest difference between a field and `wanted(point)` on this rank.
template <class Real, class Wanted>
double difference(const output::FieldView& view, Wanted wanted) {
  double worst = 0;
  const Index3 lo = view.box.lo, hi = view.box.hi;
  const auto* values = static_cast<const Real*>(view.data);
  for (std::int64_t z = lo.z; z < hi.z; ++z)
    for (std::int64_t y = lo.y; y < hi.y; ++y)
      for (std::int64_t x = lo.x; x < hi.x; ++x) {
        const double found = values[(z - lo.z) * view.stride_z + (y - lo.y) * view.stride_y + (x - lo.x)];
        worst = std::max(worst, std::abs(found - wanted(Index3{x, y, z})));
      }
  return worst;
}

template <class Real>
Solver<Real> make_solver(mpi::CommView comm, const Wave& wave, StepIndex steps, trace::Log& log) {
  const Grid& grid = wave.grid;
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  const Index3 points = grid.folded();
  RawMedium<Real> raw;
  raw.c0 = Coefficient<Real>(c0, points);
  raw.rho0 = Coefficient<Real>(rho0, points);
  for (auto& staggered : raw.rho0_staggered) staggered = Coefficient<Real>(rho0, points);
  Field<Real> initial(points, planes);
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t i = 0; i < points.x * points.y; ++i) {
      const Index3 folded{i % points.x, i / points.x, z};
      const Index3 at = grid.dimensions() == 2 ? Index3{folded.x, folded.z, 0} : folded;
      initial.at(folded) = static_cast<Real>(std::cos(wave.phase(at)));
    }
  Model<Real> model{.grid = grid,
                    .physics = {},
                    .medium = make_medium<Real>(std::move(raw), {}, grid, planes),
                    .sources = {},
                    .non_staggered = {.first = steps, .every = 1, .last = steps}};
  model.sources.initial_pressure = std::move(initial);
  return {comm, std::move(model), log};
}

template <class Real>
void check_on_nodes(mpi::CommView comm, Index3 points, std::array<std::int64_t, axis_count> periods,
                    double limit) {
  constexpr StepIndex steps = 60;
  const Wave wave{.grid = {.points = points,
                           .spacing_m = {1e-4, 1.3e-4, 0.8e-4},
                           .dt_s = 2e-8,
                           .c_ref_m_s = c0,
                           .pml = {}},
                  .periods = periods};
  trace::Log log("main");
  auto solver = make_solver<Real>(comm, wave, steps, log);
  for (StepIndex step = 1; step <= steps; ++step) {
    solver.advance(step);
    const double turn = c0 * wave.wavenumber() * wave.grid.dt_s;
    if (step % 20 == 0) {
      const double amplitude = std::cos(turn * static_cast<double>(step - 1));
      const double worst = difference<Real>(solver.field("p"),
                                            [&](Index3 at) { return amplitude * std::cos(wave.phase(at)); });
      CHECK_MESSAGE(worst < limit, fmt::format("p: {} at step {}", worst, step));
    }
    if (step < steps) continue;
    // The velocity of the last step belongs to half a step before its pressure.
    for (std::size_t axis = 0; axis < wave.grid.dimensions(); ++axis) {
      const double amplitude = wave.wavenumber_of(axis) / wave.wavenumber() / (rho0 * c0) *
                               std::sin(turn * (static_cast<double>(step - 1) - 0.5));
      const std::string name = std::string("u") + axis_names[axis];
      const auto at_shift = [&](double shift) {
        return [&wave, axis, amplitude, shift](Index3 at) {
          return amplitude * std::sin(wave.phase(at, axis, shift));
        };
      };
      const double staggered = difference<Real>(solver.field(name), at_shift(0.5)) * rho0 * c0;
      const double moved = difference<Real>(solver.field(name + "_non_staggered"), at_shift(0)) * rho0 * c0;
      CHECK_MESSAGE(staggered < limit, fmt::format("{}: {}", name, staggered));
      CHECK_MESSAGE(moved < limit, fmt::format("{}_non_staggered: {}", name, moved));
    }
  }
}

/// On one node, with ranks that only exchange messages, and with pairs of ranks that share memory.
template <class Real>
void check_plane_wave(mpi::CommView comm, Index3 points, std::array<std::int64_t, axis_count> periods,
                      double limit) {
  check_on_nodes<Real>(comm, points, periods, limit);
  for (const char* ranks_per_node : {"1", "2"}) {
    setenv("TAILRACE_RANKS_PER_NODE", ranks_per_node, 1);
    check_on_nodes<Real>(comm, points, periods, limit);
  }
  unsetenv("TAILRACE_RANKS_PER_NODE");
}

}  // namespace

MPI_CASE("a plane wave on a prime grid", ranks{1, 2, 3, 4, 7}) {
  check_plane_wave<float>(comm, {13, 11, 7}, {2, 1, 1}, 2e-5);
}
MPI_CASE("a plane wave on fewer planes than ranks", ranks{3, 4, 7}) {
  check_plane_wave<float>(comm, {16, 5, 2}, {1, 2, 0}, 2e-5);
}
MPI_CASE("a plane wave on an even grid", ranks{1, 2, 3}) {
  check_plane_wave<float>(comm, {24, 20, 18}, {3, 2, 4}, 2e-5);
}
MPI_CASE("a plane wave in two dimensions", ranks{1, 2, 3, 4, 7}) {
  check_plane_wave<float>(comm, {24, 20, 1}, {3, 2, 0}, 2e-5);
  check_plane_wave<float>(comm, {13, 11, 1}, {2, 3, 0}, 2e-5);
}
MPI_CASE("a plane wave in two dimensions on less than a row or a vector per rank", ranks{3, 7}) {
  check_plane_wave<float>(comm, {9, 2, 1}, {2, 0, 0}, 2e-5);
}
MPI_CASE("a plane wave in double precision", ranks{1, 2, 3, 4, 7}) {
  check_plane_wave<double>(comm, {13, 12, 7}, {2, 1, 1}, 1e-12);
  check_plane_wave<double>(comm, {24, 15, 1}, {3, 2, 0}, 1e-12);
}

}  // namespace tailrace::ultrasound
