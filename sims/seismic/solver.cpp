// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mpi/verdict.hpp"
#include "solver_state.hpp"

namespace tailrace::seismic {

namespace {

Index3 plus(Index3 p, std::int64_t all) noexcept {
  return {p.x + all, p.y + all, p.z + all};
}

/// The part of a box of the grid that belongs to the domain and `margin` points around it, counted there. At
/// the rim of the grid the zeros of the halo belong to the box.
Box part_of(const Box& box, const Problem& problem, std::int64_t margin) noexcept {
  if (box.empty()) return {};
  const Index3 grid = problem.grid();
  const auto low = [](std::int64_t i) { return i == 0 ? -reach : i; };
  const auto high = [](std::int64_t i, std::int64_t end) { return i == end ? end + reach : i; };
  const Box stored{{low(box.lo.x), low(box.lo.y), low(box.lo.z)},
                   {high(box.hi.x, grid.x), high(box.hi.y, grid.y), high(box.hi.z, grid.z)}};
  const auto shift = margin - problem.boundary.width;
  const Box inside = intersect({plus(stored.lo, shift), plus(stored.hi, shift)},
                               Box::whole(plus(problem.cells, 2 * margin)));
  return inside.empty() ? Box{} : inside;
}

/// Returns how the grid of a problem is cut if nothing else is asked for.
layout::Decomposition decomposition_of(const Problem& problem, int ranks) {
  return layout::Decomposition::bricks(problem.grid(), layout::min_cut_bricks(problem.grid(), ranks));
}

}  // namespace

double largest_stable_dt_s(const std::array<double, 3>& spacing_m, double speed_m_s) noexcept {
  double sum = 0;
  for (const double h : spacing_m) sum += 1 / (h * h);
  return 2 / (speed_m_s * std::sqrt(largest_symbol() * sum));
}

Box own_cells(const Problem& problem, int ranks, int rank) {
  return part_of(decomposition_of(problem, ranks).box(rank), problem, problem.margin);
}

Extremes survey(mpi::CommView comm, const Problem& problem) {
  Extremes all;
  const Box own = part_of(decomposition_of(problem, comm.size()).box(comm.rank()), problem, 0);
  mpi::collectively(comm, [&] { all = survey(problem.properties, own); });
  all.speed_m_s = mpi::max(comm, all.speed_m_s);
  all.vp_m_s = mpi::max(comm, all.vp_m_s);
  all.vs_m_s = mpi::max(comm, all.vs_m_s);
  all.slowest_m_s = -mpi::max(comm, -all.slowest_m_s);
  all.speed_ratio = mpi::max(comm, all.speed_ratio);
  // A layer of random speeds may put the largest speed beside the largest ratio.
  if (problem.boundary.kind == Boundary::Kind::random)
    all.speed_m_s = std::max(all.speed_m_s, all.vp_m_s * all.speed_ratio);
  const auto digests = mpi::sum(comm, std::vector<std::uint64_t>(all.digests.begin(), all.digests.end()));
  std::copy(digests.begin(), digests.end(), all.digests.begin());
  const Index3& n = problem.cells;
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const Index3& p = all.first_unstable;
  const auto first = mpi::min(comm, all.unstable > 0 ? (p.z * n.y + p.y) * n.x + p.x : none);
  all.unstable = mpi::sum(comm, all.unstable);
  if (first != none) all.first_unstable = {first % n.x, first / n.x % n.y, first / n.x / n.y};
  return all;
}

Solver::Solver(mpi::CommView comm, const Problem& problem, const Extremes& extremes, trace::Log& log,
               const SolverPlace& place) {
  const auto decomposition = place.bricks ? layout::Decomposition::bricks(problem.grid(), *place.bricks)
                                          : decomposition_of(problem, comm.size());
  const Box own = decomposition.box(comm.rank());
  own_cells_ = part_of(own, problem, problem.margin);
  const Index3 in_grid = plus(own_cells_.lo, problem.boundary.width - problem.margin);
  first_ = {in_grid.x - own.lo.x, in_grid.y - own.lo.y, in_grid.z - own.lo.z};
  const StateConfig config{comm, problem, extremes, decomposition, log};
  state_ = place.device ? make_device_state(config, *place.device) : make_host_state(config);
}
Solver::~Solver() = default;

void Solver::advance(StepIndex step) {
  state_->advance(step);
}

output::FieldView Solver::field(const std::string& quantity) const {
  if (own_cells_.empty()) return {};
  auto view = state_->view(quantity == "q", first_);
  view.box = own_cells_;
  return view;
}

void Solver::state(checkpoint::StateArchive& archive) {
  state_->state(archive);
}
void Solver::restored(StepIndex) {
  state_->get_halos();
}

SolverMemory Solver::needed_memory(const Problem& problem, int ranks, int rank, bool on_device) {
  const auto decomposition = decomposition_of(problem, ranks);
  const bool single = problem.precision == h5::ElementType::float32;
  if (on_device)
    return single ? device_memory<float>(problem, decomposition, rank)
                  : device_memory<double>(problem, decomposition, rank);
  const Box own = decomposition.box(rank);
  return single ? host_memory<float>(problem, own) : host_memory<double>(problem, own);
}

std::int64_t Solver::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(state_->memory().host_bytes);
}

}  // namespace tailrace::seismic
