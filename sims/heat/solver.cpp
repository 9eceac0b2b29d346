// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/system.hpp"
#include "solver_loops.hpp"

namespace tailrace::heat {

namespace {

/// Where a point of an element is.
Vec3 place_of(const Leaf& leaf, std::size_t point) noexcept {
  const std::array<std::size_t, 3> at{point % points, point / points % points, point / (points * points)};
  Vec3 place{};
  for (std::size_t d = 0; d < 3; ++d)
    place[d] = to_length(leaf.low[d]) + to_length(leaf.size()) * (gll_places[at[d]] + 1) / 2;
  return place;
}

/// Makes an array one of `count` zeros; frees what is too small before it takes more.
template <class Vector>
void remake(Vector& values, std::size_t count) {
  if (values.capacity() < count) Vector().swap(values);
  values.assign(count, typename Vector::value_type{});
}

ExchangeOptions with_log(ExchangeOptions options, trace::Log& log) {
  options.log = &log;
  return options;
}

}  // namespace

Solver::Solver(mpi::CommView comm, const Problem& problem, const ExchangeOptions& exchange, trace::Log& log)
    : comm_(comm),
      problem_(problem),
      log_(log),
      sum_rule_(exchange.sum),
      mortars_(comm, with_log(exchange, log)) {}

void Solver::begin() {
  time_ = adapted_time_ = 0;
  element_steps_ = element_iterations_ = 0;
  set_mesh(make_forest(comm_, problem_.level, problem_.ball_at(0)));
  adaptations_ = {describe_mesh()};
  adaptations_.front().splits = (forest_.total - 1) / 7;
  phases_ = {};  // those of the steps
  accesses_.clear();
  keep_access(0);
}

void Solver::advance(StepIndex step) {
  const double start_s = monotonic_s();
  step_ = step;
  mortars_.mark_step(step);
  convect_all();
  const int iterations = diffuse();
  time_ += problem_.dt;
  if (problem_.adapts_after(step)) adapt(step);
  element_steps_ += forest_.total;
  element_iterations_ += iterations * forest_.total;
  computed_s_ += monotonic_s() - start_s;
}

double Solver::integral() {
  for_each_batch([&](std::size_t b) {
    Lanes sum{};
    for (std::size_t p = 0; p < element_points; ++p) sum += weight_of(p) * field_[b].at[p];
    lane_sums_[b].at[0] = scales_[b].mass * sum;
  });
  return reduced(element_sum());
}

ElementValues Solver::values(std::size_t element) const noexcept {
  ElementValues values{};
  const Whole& batch = field_[element / batch_elements];
  for (std::size_t p = 0; p < element_points; ++p) values[p] = batch.value(p, element % batch_elements);
  return values;
}

void Solver::set_values(std::size_t element, const ElementValues& values) noexcept {
  Whole& batch = field_[element / batch_elements];
  for (std::size_t p = 0; p < element_points; ++p) batch.value(p, element % batch_elements) = values[p];
}

void Solver::set_field(const std::function<double(const Vec3&)>& value) {
  for (std::size_t e = 0; e < elements(); ++e) {
    const Leaf& leaf = forest_.leaves[e];
    ElementValues values{};
    for (std::size_t p = 0; p < element_points; ++p) values[p] = value(place_of(leaf, p));
    set_values(e, values);
  }
}

Adaptation Solver::describe_mesh() const {
  return {.elements = forest_.total,
          .mortars = mortars_.total(),
          .max_elements = mpi::max(comm_, static_cast<std::int64_t>(elements())),
          .max_mortars = mpi::max(comm_, static_cast<std::int64_t>(mortars_.owned())),
          .traffic = traffic_};
}

void Solver::set_mesh(Forest forest, MeshTrafficCounter traffic) {
  forest_ = std::move(forest);
  const auto rebuilt = mortars_.rebuild(forest_, traffic);
  traffic_ = rebuilt.traffic.over(comm_);
  phases_.numbering_s += rebuilt.numbering_s;
  phases_.map_s += rebuilt.map_s;
  set_fields();
  const PhaseTimer timer(phases_.diagonal_s);
  const double scatter_s = phases_.scatter_s;
  make_average_weights();
  make_diagonal();
  phases_.scatter_s = scatter_s;  // that of the steps alone: this is part of making the mesh
}

void Solver::set_fields() {
  const PhaseTimer timer(phases_.fields_s);
  batch_mortars_.rebuild(mortars_, elements());
  remake(field_, batches());
  remake(residual_, batches());
  for (auto* inner_field : {&inverse_, &inner_residual_, &direction_, &product_, &correction_})
    remake(*inner_field, batches());
  remake(lane_sums_, batches());
  remake(contributions_, mortars_.positions());
  for (auto* values : {&mortar_residual_, &mortar_direction_, &mortar_product_, &mortar_correction_,
                       &mortar_average_, &mortar_inverse_})
    remake(*values, mortars_.slots());
  set_scales();
  split_batches();
}

void Solver::set_scales() {
  scales_.assign(batches(), {});
  for (std::size_t b = 0; b < batches(); ++b) {
    for (std::size_t lane = 0; lane < batch_elements; ++lane) {
      const std::size_t element = std::min(b * batch_elements + lane, elements() - 1);
      const double half = to_length(forest_.leaves[element].size()) / 2;
      const auto at = static_cast<int>(lane);
      scales_[b].stiffness[at] = problem_.viscosity * half;
      scales_[b].mass[at] = half * half * half;
      scales_[b].gradient[at] = 1 / half;
    }
  }
}

void Solver::split_batches() {
  for (auto* list : {&rim_, &early_, &late_}) list->clear();
  for (std::size_t b = 0; b < batches(); ++b) {
    bool at_rim = false;
    for_each_lane(b, [&](std::size_t element, std::size_t) { at_rim |= mortars_.is_at_rim(element); });
    (at_rim ? rim_ : early_).push_back(static_cast<std::uint32_t>(b));
  }
  if (!mortars_.takes_late_contributions()) return;
  const auto half = early_.begin() + static_cast<std::ptrdiff_t>(early_.size() / 2);
  late_.assign(half, early_.end());
  early_.erase(half, early_.end());
}

void Solver::make_average_weights() {
  Whole ones;
  std::fill(std::begin(ones.at), std::end(ones.at), Lanes{} + 1);
  for_each_batch([&](std::size_t b) { batch_mortars_.write_averages(b, ones, contributions_.data()); });
  auto flight = begin_scatter(mortar_average_);
  finish(flight, phases_.scatter_s);
  for (std::size_t slot = 0; slot < mortars_.owned(); ++slot)
    mortar_average_[slot] = 1 / mortar_average_[slot];
}

/// The reciprocal of the exact diagonal of the operator on inner and mortar points; 0 where the field is held
/// at 0.
void Solver::make_diagonal() {
  static const auto parts = inner_energies();
  for_each_batch([&](std::size_t b) {
    for (std::size_t p = 0; p < inner_points; ++p)
      inverse_[b].at[p] =
          1 / (scales_[b].stiffness * parts[p].stiffness + scales_[b].mass / problem_.dt * parts[p].mass);
    for_each_lane(b, [&](std::size_t element, std::size_t lane) {
      const auto& diagonals = mortars_.pattern(element).diagonals();
      const double stiff = scales_[b].stiffness[static_cast<int>(lane)],
                   mass = scales_[b].mass[static_cast<int>(lane)] / problem_.dt;
      for (std::size_t c = 0; c < diagonals.size(); ++c)
        contributions_[mortars_.first(element) + c] =
            stiff * diagonals[c].stiffness + mass * diagonals[c].mass;
    });
  });
  mortars_.for_each_boundary_position([&](std::size_t position) {
    contributions_[position] = std::numeric_limits<double>::infinity();  // the reciprocal is 0
  });
  auto flight = begin_scatter(mortar_inverse_);
  finish(flight, phases_.scatter_s);
  for (std::size_t slot = 0; slot < mortars_.owned(); ++slot)
    mortar_inverse_[slot] = 1 / mortar_inverse_[slot];
}

void Solver::adapt(StepIndex step) {
  const double start_s = monotonic_s();
  adapted_time_ = time_;
  Forest next = make_next_forest();
  Adaptation done = adaptations_.back();
  done.splits = done.merged = 0;
  done.traffic = {};
  if (mpi::min(comm_, std::int64_t{next == forest_}) == 0) done = take_mesh(std::move(next));
  done.step = step;
  adaptations_.push_back(done);
  keep_access(step);
  phases_.adaptation_s += monotonic_s() - start_s;
}

Forest Solver::make_next_forest() {
  const PhaseTimer timer(phases_.tree_s);
  return make_forest(comm_, problem_.level, problem_.ball_at(time_));
}

/// The adaptations behind each third of the steps, and the last one.
void Solver::keep_access(StepIndex step) {
  constexpr StepIndex parts = 3;
  const StepIndex next = step + problem_.adapt_every;
  const bool passes = step * parts / problem_.steps != next * parts / problem_.steps;
  if (step == 0 || passes || next >= problem_.steps) accesses_.push_back({step, mortars_.access_pattern()});
}

/// Puts the field onto another mesh.
Adaptation Solver::take_mesh(Forest next) {
  double start_s = monotonic_s();
  const std::int64_t before = forest_.total;
  MeshTrafficCounter traffic;
  const Transfer transfer(comm_, forest_, next, [this](std::size_t e) { return values(e); });
  traffic.add(MeshTraffic::transfer, transfer.left());
  const std::int64_t splits = mpi::sum(comm_, transfer.splits(next.leaves));
  phases_.transfer_s += monotonic_s() - start_s;
  set_mesh(std::move(next), traffic);
  start_s = monotonic_s();
  for (std::size_t e = 0; e < elements(); ++e) set_values(e, transfer.at(forest_.leaves[e]));
  phases_.transfer_s += monotonic_s() - start_s;
  Adaptation done = describe_mesh();
  done.splits = splits;
  done.merged = (before + 7 * splits - done.elements) / 7 * 8;
  return done;
}

exchange::Flight Solver::begin_gather(std::vector<double>& mortar_values) {
  const double start_s = monotonic_s();
  auto flight = mortars_.begin_gather(mortar_values);
  phases_.gather_s += monotonic_s() - start_s;
  return flight;
}

exchange::Flight Solver::begin_scatter(std::vector<double>& sums) {
  const double start_s = monotonic_s();
  auto flight = mortars_.begin_scatter(contributions_, sums);
  phases_.scatter_s += monotonic_s() - start_s;
  return flight;
}

void Solver::finish(exchange::Flight& flight, double& seconds) {
  const double start_s = monotonic_s();
  flight.finish();
  seconds += monotonic_s() - start_s;
}

Sum Solver::element_sum() const {
  Sum sum(sum_rule_);
  for (std::size_t e = 0; e < elements(); ++e)
    sum.add(lane_sums_[e / batch_elements].value(0, e % batch_elements));
  return sum;
}

/// The sum over all ranks.
double Solver::reduced(const Sum& sum) {
  const trace::Scope scope(log_, trace::Kind::exchange, step_);
  const double start_s = monotonic_s();
  const double all = sum.over(comm_);
  phases_.reduction_s += monotonic_s() - start_s;
  return all;
}

std::int64_t Solver::memory_bytes() const noexcept {
  const std::size_t batch_bytes = 2 * sizeof(Whole) + 5 * sizeof(Inner) + sizeof(Batch<1>) + sizeof(Scales);
  const std::size_t mortar_bytes = 6 * mortars_.slots() + contributions_.size();
  return static_cast<std::int64_t>(batches() * batch_bytes + mortar_bytes * sizeof(double) +
                                   elements() * sizeof(Leaf)) +
         mortars_.memory_bytes() + static_cast<std::int64_t>(batch_mortars_.memory_bytes());
}

}  // namespace tailrace::heat
