// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "mpi_case.hpp"
#include "solver.hpp"

/// A time step takes no memory: every `new` of this program is counted.

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace tailrace::ultrasound {

namespace {

/// An absorbing, non-linear medium with a source that has a signal for each of its points.
Model<float> absorbing_model(mpi::CommView comm, const Grid& grid) {
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  const Index3 points = grid.folded();
  RawMedium<float> raw;
  raw.c0 = Coefficient<float>(1500, points);
  raw.rho0 = Coefficient<float>(1000, points);
  raw.b_on_a = Coefficient<float>(6, points);
  raw.alpha_coeff = Coefficient<float>(0.5F, points);
  for (auto& staggered : raw.rho0_staggered) staggered = Coefficient<float>(1000, points);
  const Physics physics{.nonlinear = true, .absorption = Absorption::power_law, .alpha_power = 1.5};
  Model<float> model{.grid = grid,
                     .physics = physics,
                     .medium = make_medium<float>(std::move(raw), physics, grid, planes),
                     .sources = {},
                     .non_staggered = {}};
  PointSource<float> source;
  source.steps = 9;
  source.one_signal = false;
  for (std::int64_t z = planes.begin; z < planes.end; ++z) source.points.push_back({2, 0, z});
  source.signals.assign(9 * source.points.size(), 1e-3F);
  model.sources.pressure = std::move(source);
  return model;
}

std::int64_t allocations_of_steps(mpi::CommView comm, Index3 points) {
  const Grid grid{.points = points,
                  .spacing_m = {1e-4, 1e-4, 1e-4},
                  .dt_s = 1e-8,
                  .c_ref_m_s = 1500,
                  .pml = {.size = {2, 2, 2}, .alpha = {2, 2, 2}}};
  trace::Log log("main");
  Solver<float> solver(comm, absorbing_model(comm, grid), log);
  for (StepIndex step = 1; step <= 3; ++step) solver.advance(step);
  const std::int64_t before = allocations;
  for (StepIndex step = 4; step <= 8; ++step) solver.advance(step);
  return allocations - before;
}

}  // namespace

MPI_CASE("a time step allocates nothing", ranks{1, 2}) {
  CHECK(allocations_of_steps(comm, {24, 20, 18}) == 0);
  CHECK(allocations_of_steps(comm, {127, 13, 17}) == 0);
  CHECK(allocations_of_steps(comm, {40, 36, 1}) == 0);
  CHECK(allocations > 0);
}

}  // namespace tailrace::ultrasound
