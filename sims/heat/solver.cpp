// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <utility>

#include "base/system.hpp"

namespace tailrace::heat {

namespace {

/// Where a point of an element is.
Vec3 place_of(const Leaf& leaf, std::span<const double> places, std::size_t point) noexcept {
  const std::size_t n = places.size();
  const std::array<std::size_t, 3> at{point % n, point / n % n, point / (n * n)};
  Vec3 place{};
  for (std::size_t d = 0; d < 3; ++d)
    place[d] = to_length(leaf.low[d]) + to_length(leaf.size()) * (places[at[d]] + 1) / 2;
  return place;
}

ExchangeOptions with_log(ExchangeOptions options, trace::Log& log) {
  options.log = &log;
  return options;
}

}  // namespace

Solver::Solver(mpi::CommView comm, const Problem& problem, const ExchangeOptions& exchange, trace::Log& log)
    : comm_(comm),
      problem_(problem),
      mortars_(comm, with_log(exchange, log), problem.order),
      elements_(make_elements({comm, problem, forest_, mortars_, phases_, log, exchange.sum})) {}

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
  elements_->mark_step(step);
  mortars_.mark_step(step);
  elements_->convect(time_);
  const int iterations = elements_->diffuse();
  time_ += problem_.dt;
  if (problem_.adapts_after(step)) adapt(step);
  element_steps_ += forest_.total;
  element_iterations_ += iterations * forest_.total;
  computed_s_ += monotonic_s() - start_s;
}

void Solver::set_field(const std::function<double(const Vec3&)>& value) {
  const auto places = gll_places_of(problem_.order);
  std::vector<double> values(element_points_of(problem_.order));
  for (std::size_t e = 0; e < forest_.leaves.size(); ++e) {
    for (std::size_t p = 0; p < values.size(); ++p) values[p] = value(place_of(forest_.leaves[e], places, p));
    elements_->set_values(e, values);
  }
}

Adaptation Solver::describe_mesh() const {
  return {.elements = forest_.total,
          .mortars = mortars_.total(),
          .max_elements = mpi::max(comm_, static_cast<std::int64_t>(forest_.leaves.size())),
          .max_mortars = mpi::max(comm_, static_cast<std::int64_t>(mortars_.owned())),
          .traffic = traffic_};
}

void Solver::set_mesh(Forest forest, MeshTrafficCounter traffic) {
  forest_ = std::move(forest);
  const auto rebuilt = mortars_.rebuild(forest_, traffic);
  traffic_ = rebuilt.traffic.over(comm_);
  phases_.numbering_s += rebuilt.numbering_s;
  phases_.map_s += rebuilt.map_s;
  elements_->rebuild();
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
  const auto sent = elements_->send_to(next);
  traffic.add(MeshTraffic::transfer, sent.left);
  const std::int64_t splits = mpi::sum(comm_, sent.splits);
  phases_.transfer_s += monotonic_s() - start_s;
  set_mesh(std::move(next), traffic);
  start_s = monotonic_s();
  elements_->receive();
  phases_.transfer_s += monotonic_s() - start_s;
  Adaptation done = describe_mesh();
  done.splits = splits;
  done.merged = (before + 7 * splits - done.elements) / 7 * 8;
  return done;
}

std::int64_t Solver::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(forest_.leaves.size() * sizeof(Leaf)) + mortars_.memory_bytes() +
         elements_->memory_bytes();
}

}  // namespace tailrace::heat
