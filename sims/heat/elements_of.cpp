// SPDX-License-Identifier: BSD-3-Clause
#include "elements_of.hpp"

#include <algorithm>

#include "element_loops.hpp"
#include "remake.hpp"

namespace tailrace::heat {

namespace {

/// What the points inside of an element contribute to the diagonal.
template <int order>
std::array<Energies, inner_points<order>> inner_energies() noexcept {
  std::array<Energies, inner_points<order>> parts;
  for (std::size_t p = 0; p < inner_points<order>; ++p) {
    std::array<double, element_points<order>> unit{};
    unit[whole_point<order>(p)] = 1;
    parts[p] = energies_of<order>(unit);
  }
  return parts;
}

}  // namespace

std::unique_ptr<Elements> make_elements(const Shared& shared) {
  return with_order(shared.problem.order, [&](auto order) -> std::unique_ptr<Elements> {
    return std::make_unique<ElementsOf<order>>(shared);
  });
}

template <int order>
double ElementsOf<order>::integral() {
  for_each_batch([&](std::size_t b) {
    Lanes sum{};
    for (std::size_t p = 0; p < element_points<order>; ++p) sum += point_weights<order>[p] * field_[b].at[p];
    lane_sums_[b].at[0] = scales_[b].mass * sum;
  });
  return reduced(element_sum());
}

template <int order>
ElementValues<order> ElementsOf<order>::copy_of(std::size_t element) const noexcept {
  ElementValues<order> values{};
  const Whole<order>& batch = field_[element / batch_elements];
  for (std::size_t p = 0; p < element_points<order>; ++p)
    values[p] = batch.value(p, element % batch_elements);
  return values;
}

template <int order>
std::vector<double> ElementsOf<order>::values(std::size_t element) const {
  const auto copy = copy_of(element);
  return {copy.begin(), copy.end()};
}

template <int order>
void ElementsOf<order>::set_values(std::size_t element, std::span<const double> values) noexcept {
  Whole<order>& batch = field_[element / batch_elements];
  for (std::size_t p = 0; p < element_points<order>; ++p)
    batch.value(p, element % batch_elements) = values[p];
}

template <int order>
Elements::Sent ElementsOf<order>::send_to(const Forest& next) {
  transfer_.emplace(comm_, forest_, next, [this](std::size_t element) { return copy_of(element); });
  return {.left = transfer_->left(), .splits = transfer_->splits(next.leaves)};
}

template <int order>
void ElementsOf<order>::receive() {
  for (std::size_t e = 0; e < elements(); ++e) set_values(e, transfer_->at(forest_.leaves[e]));
  transfer_.reset();
}

template <int order>
void ElementsOf<order>::remake_fields() {
  batch_mortars_.rebuild(mortars_, elements());
  for (auto* field : {&field_, &residual_}) remake(*field, batches());
  for (auto* field : {&inverse_, &inner_residual_, &direction_, &product_, &correction_})
    remake(*field, batches());
}

template <int order>
void ElementsOf<order>::count_in_averages(std::size_t batch) {
  Whole<order> ones;
  std::fill(std::begin(ones.at), std::end(ones.at), Lanes{} + 1);
  batch_mortars_.write_averages(batch, ones, contributions_.data());
}

template <int order>
void ElementsOf<order>::add_to_diagonal(std::size_t batch) {
  static const auto parts = inner_energies<order>();
  const Lanes stiffness = scales_[batch].stiffness, mass = scales_[batch].mass / problem_.dt;
  for (std::size_t p = 0; p < inner_points<order>; ++p)
    inverse_[batch].at[p] = 1 / (stiffness * parts[p].stiffness + mass * parts[p].mass);
  for_each_lane(batch, [&](std::size_t element, std::size_t lane) {
    const auto at = static_cast<int>(lane);
    double* const contributions = &contributions_[mortars_.first(element)];
    const auto& diagonals = batch_mortars_.pattern_of(element).diagonals();
    for (std::size_t c = 0; c < diagonals.size(); ++c)
      contributions[c] = stiffness[at] * diagonals[c].stiffness + mass[at] * diagonals[c].mass;
  });
}

template <int order>
std::int64_t ElementsOf<order>::memory_bytes() const noexcept {
  constexpr std::size_t batch_bytes = 2 * sizeof(Whole<order>) + 5 * sizeof(Inner<order>);
  return Elements::memory_bytes() +
         static_cast<std::int64_t>(batches() * batch_bytes + batch_mortars_.memory_bytes());
}

#define TAILRACE_COMPILE(order) template class ElementsOf<order>;
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
