// SPDX-License-Identifier: BSD-3-Clause
#include "elements.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "element_loops.hpp"
#include "remake.hpp"

namespace tailrace::heat {

Elements::Elements(const Shared& shared)
    : comm_(shared.comm),
      problem_(shared.problem),
      forest_(shared.forest),
      mortars_(shared.mortars),
      phases_(shared.phases),
      log_(shared.log),
      sum_rule_(shared.sum_rule) {}

void Elements::rebuild() {
  {
    const PhaseTimer timer(phases_.fields_s);
    remake_arrays();
    set_scales();
    split_batches();
  }
  const PhaseTimer timer(phases_.diagonal_s);
  const double scatter_s = phases_.scatter_s;
  make_average_weights();
  make_diagonal();
  phases_.scatter_s = scatter_s;  // that of the steps alone: this is part of making the mesh
}

void Elements::remake_arrays() {
  remake_fields();
  remake(lane_sums_, batches());
  remake(contributions_, mortars_.positions());
  for (auto* values : {&mortar_residual_, &mortar_direction_, &mortar_product_, &mortar_correction_,
                       &mortar_average_, &mortar_inverse_})
    remake(*values, mortars_.slots());
}

void Elements::set_scales() {
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

void Elements::split_batches() {
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

void Elements::make_average_weights() {
  for_each_batch([&](std::size_t b) { count_in_averages(b); });
  auto flight = begin_scatter(mortar_average_);
  finish(flight, phases_.scatter_s);
  for (std::size_t slot = 0; slot < mortars_.owned(); ++slot)
    mortar_average_[slot] = 1 / mortar_average_[slot];
}

/// The reciprocal of the exact diagonal of the operator on inner and mortar points; 0 where the field is held
/// at 0.
void Elements::make_diagonal() {
  for_each_batch([&](std::size_t b) { add_to_diagonal(b); });
  mortars_.for_each_boundary_position([&](std::size_t position) {
    contributions_[position] = std::numeric_limits<double>::infinity();  // the reciprocal is 0
  });
  auto flight = begin_scatter(mortar_inverse_);
  finish(flight, phases_.scatter_s);
  for (std::size_t slot = 0; slot < mortars_.owned(); ++slot)
    mortar_inverse_[slot] = 1 / mortar_inverse_[slot];
}

exchange::Flight Elements::begin_gather(std::vector<double>& mortar_values) {
  const double start_s = monotonic_s();
  auto flight = mortars_.begin_gather(mortar_values);
  phases_.gather_s += monotonic_s() - start_s;
  return flight;
}

exchange::Flight Elements::begin_scatter(std::vector<double>& sums) {
  const double start_s = monotonic_s();
  auto flight = mortars_.begin_scatter(contributions_, sums);
  phases_.scatter_s += monotonic_s() - start_s;
  return flight;
}

void Elements::finish(exchange::Flight& flight, double& seconds) {
  const double start_s = monotonic_s();
  flight.finish();
  seconds += monotonic_s() - start_s;
}

Sum Elements::element_sum() const {
  Sum sum(sum_rule_);
  for (std::size_t e = 0; e < elements(); ++e)
    sum.add(lane_sums_[e / batch_elements].value(0, e % batch_elements));
  return sum;
}

/// The sum over all ranks.
double Elements::reduced(const Sum& sum) {
  const trace::Scope scope(log_, trace::Kind::exchange, step_);
  const double start_s = monotonic_s();
  const double all = sum.over(comm_);
  phases_.reduction_s += monotonic_s() - start_s;
  return all;
}

std::int64_t Elements::memory_bytes() const noexcept {
  const std::size_t batch_bytes = sizeof(Batch<1>) + sizeof(Scales);
  const std::size_t mortar_bytes = 6 * mortars_.slots() + contributions_.size();
  return static_cast<std::int64_t>(batches() * batch_bytes + mortar_bytes * sizeof(double));
}

}  // namespace tailrace::heat
