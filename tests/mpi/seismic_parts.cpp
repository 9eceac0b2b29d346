// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "mpi_case.hpp"
#include "seismic_problem.hpp"
#include "solver.hpp"

/// Bricks of every shape, thin ones included, against one rank, with each kind of boundary; stability; what a
/// sponge leaves of a wave.
namespace tailrace::seismic {

namespace {

/// Points of this rank where the field is not the same, bit for bit, as in `other`, which has all points.
std::int64_t differences(const output::FieldView& mine, const output::FieldView& other) {
  const auto at = [](const output::FieldView& view, std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<const float*>(view.data) + (z - view.box.lo.z) * view.stride_z +
           (y - view.box.lo.y) * view.stride_y + x - view.box.lo.x;
  };
  std::int64_t count = 0;
  for (std::int64_t z = mine.box.lo.z; z < mine.box.hi.z; ++z)
    for (std::int64_t y = mine.box.lo.y; y < mine.box.hi.y; ++y)
      for (std::int64_t x = mine.box.lo.x; x < mine.box.hi.x; ++x)
        count += std::memcmp(at(mine, x, y, z), at(other, x, y, z), sizeof(float)) == 0 ? 0 : 1;
  return count;
}

void check_bricks(mpi::CommView comm, const Problem& problem, const layout::RankBricks& bricks) {
  trace::Log log("test");
  const auto alone = mpi::Comm::split(comm, comm.rank());
  const auto extremes = survey(comm, problem);
  Solver parts(comm, problem, extremes, log, {.bricks = bricks, .device = {}}),
      whole(alone, problem, extremes, log);
  constexpr StepIndex steps = 16;
  for (StepIndex step = 1; step <= steps; ++step) parts.advance(step), whole.advance(step);
  for (const char* quantity : {"p", "q"}) {
    CHECK(mpi::sum(comm, differences(parts.field(quantity), whole.field(quantity))) == 0);
    const auto view = whole.field(quantity);
    const auto* source = static_cast<const float*>(view.data) + 14 * view.stride_z;
    CHECK(std::abs(*source) > 0);
  }
  CHECK(mpi::sum(comm, parts.own_cells().volume()) == problem.cells.volume());
}

/// Sum of squares of p in the domain after so many steps of a pulse in the middle.
double energy_after(mpi::CommView comm, Problem problem, StepIndex steps) {
  problem.sources = {{.cell = {problem.cells.x / 2, problem.cells.y / 2, problem.cells.z / 2},
                      .values = ricker_values(60, 0, 1, problem.dt_s, steps)}};
  trace::Log log("test");
  Solver solver(comm, problem, survey(comm, problem), log);
  for (StepIndex step = 1; step <= steps; ++step) solver.advance(step);
  const auto view = solver.field("p");
  double sum = 0;
  for (std::int64_t z = 0; z < view.box.extents().z; ++z)
    for (std::int64_t y = 0; y < view.box.extents().y; ++y)
      for (std::int64_t x = 0; x < view.box.extents().x; ++x) {
        const double p = static_cast<const float*>(view.data)[z * view.stride_z + y * view.stride_y + x];
        sum += p * p;
      }
  return mpi::sum(comm, sum);
}

}  // namespace

MPI_CASE("two bricks", ranks{2}) {
  for (const auto kind : {Boundary::Kind::zero, Boundary::Kind::random, Boundary::Kind::sponge})
    for (const auto& bricks : {layout::RankBricks{2, 1, 1}, {1, 2, 1}, {1, 1, 2}})
      check_bricks(comm, small_problem(Equations::tti, kind), bricks);
}
MPI_CASE("three bricks in a row, and four that meet in an edge", ranks{3, 4}) {
  using Bricks = std::vector<layout::RankBricks>;
  const auto all =
      comm.size() == 3 ? Bricks{{3, 1, 1}, {1, 3, 1}, {1, 1, 3}} : Bricks{{2, 2, 1}, {2, 1, 2}, {1, 2, 2}};
  for (const auto equations : {Equations::isotropic, Equations::vti, Equations::tti})
    for (const auto& bricks : all) check_bricks(comm, small_problem(equations, Boundary::Kind::zero), bricks);
}
MPI_CASE("bricks thinner than the stencil, and empty ones", ranks{3, 7}) {
  const auto count = comm.size();
  for (const auto& bricks : {layout::RankBricks{count, 1, 1}, {1, count, 1}, {1, 1, count}})
    check_bricks(comm, small_problem(Equations::tti, Boundary::Kind::random), bricks);
  auto flat = small_problem(Equations::tti, Boundary::Kind::zero);
  flat.cells.y = 5;
  flat.sources[0].cell.y = 2;
  check_bricks(comm, flat, {1, count, 1});
}

MPI_CASE("below the largest stable time step a pulse stays bounded, above it does not", ranks{1}) {
  for (const auto equations : {Equations::isotropic, Equations::vti, Equations::tti}) {
    auto problem = small_problem(equations, Boundary::Kind::zero);
    problem.properties.vp_m_s = {.value = 3000, .open = {}};
    problem.properties.epsilon = {.value = 0.24, .open = {}};
    problem.properties.dip_rad = {.value = 0.7, .open = {}};
    const double limit_s = largest_stable_dt_s(problem.spacing_m, survey(comm, problem).speed_m_s);
    problem.dt_s = 0.999 * limit_s;
    CHECK(energy_after(comm, problem, 400) < 1e4);
    // The limit takes the fastest wave to run along all axes at once, which only the isotropic one does.
    problem.dt_s = (equations == Equations::isotropic ? 1.03 : 1.25) * limit_s;
    CHECK_FALSE(energy_after(comm, problem, 400) < 1e8);
  }
}

MPI_CASE("a sponge takes what a bare edge throws back", ranks{1}) {
  auto bare = small_problem(Equations::isotropic, Boundary::Kind::zero);
  bare.properties.vp_m_s = {.value = 2500, .open = {}};
  auto soft = bare;
  soft.boundary = {.kind = Boundary::Kind::sponge, .width = 16, .seed = 1};
  const double thrown_back = energy_after(comm, bare, 300), left = energy_after(comm, soft, 300);
  CHECK(left < 1e-2 * thrown_back);
}

}  // namespace tailrace::seismic
