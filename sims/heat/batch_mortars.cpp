// SPDX-License-Identifier: BSD-3-Clause
#include "batch_mortars.hpp"

#include <array>
#include <utility>

namespace tailrace::heat {

namespace {

using AllLanes = std::make_index_sequence<batch_elements>;

template <std::size_t... lane>
inline Lanes gathered(const double* const* at, std::size_t i,
                      std::index_sequence<lane...> /*lanes*/) noexcept {
  return Lanes{at[lane][i]...};
}
template <std::size_t... lane>
inline void scatter(const Lanes& values, double* const* to, std::size_t i,
                    std::index_sequence<lane...> /*lanes*/) noexcept {
  ((to[lane][i] = values[lane]), ...);
}

/// Sets the points of some vertices, edges or faces, `count` of each.
template <int order, std::size_t first, std::size_t end, std::size_t count>
inline void place(const double* const (*views)[batch_elements], Whole<order>& into) noexcept {
  for (std::size_t entity = first; entity < end; ++entity)
    for (std::size_t i = 0; i < count; ++i)
      into.at[boundary<order>[first_of_entity<order>(entity) + i]] = gathered(views[entity], i, AllLanes{});
}

}  // namespace

template <int order>
void BatchMortars<order>::rebuild(const Mortars& mortars, std::size_t elements) {
  mortars_ = &mortars;
  elements_ = elements;
  patterns_of_.clear();
  for (std::size_t element = 0; element < elements; ++element)
    patterns_of_.push_back(&patterns_.of(mortars.splits(element)));
  slots_.assign(batches_of(elements), {});
  for (std::size_t batch = 0; batch < slots_.size(); ++batch)
    for (std::size_t lane = 0; lane < batch_elements; ++lane) {
      const Pattern<order>& pattern = pattern_of(element_in(batch, lane));
      const auto slots = mortars.slots_of(element_in(batch, lane));
      for (std::size_t entity = 0; entity < entities_of_element; ++entity)
        if (!pattern.is_split(entity)) slots_[batch].of[entity][lane] = slots[pattern.first_column(entity)];
    }
  ways_.clear();
  for (std::size_t element = 0; element < elements; ++element) ways_.push_back(way_of(element));
}

/// Ranks that own points by number may have parts of an edge or a face.
template <int order>
auto BatchMortars<order>::way_of(std::size_t element) const -> Way {
  const Pattern<order>& pattern = pattern_of(element);
  const auto slots = mortars_->slots_of(element);
  for (std::size_t entity = 0; entity < entities_of_element; ++entity) {
    if (pattern.is_split(entity)) continue;
    const std::size_t first = pattern.first_column(entity),
                      count = first_of_entity<order>(entity + 1) - first_of_entity<order>(entity);
    for (std::size_t i = 1; i < count; ++i)
      if (slots[first + i] != slots[first] + static_cast<std::int32_t>(i)) return Way::single;
  }
  return pattern.is_plain() ? Way::direct : Way::projected;
}

template <int order>
void BatchMortars<order>::read(std::size_t batch, const double* mortar_values, Whole<order>& into) const {
  const double* views[entities_of_element][batch_elements];
  BoundaryValues<order> projected[batch_elements];
  for (std::size_t entity = 0; entity < entities_of_element; ++entity)
    for (std::size_t lane = 0; lane < batch_elements; ++lane)
      views[entity][lane] = mortar_values + slots_[batch].of[entity][lane];
  for (std::size_t lane = 0; lane < batch_elements; ++lane) {
    const Way way = ways_[element_in(batch, lane)];
    if (way == Way::direct) continue;
    const Pattern<order>& pattern = pattern_of(element_in(batch, lane));
    const std::int32_t* const slots = mortars_->slots_of(element_in(batch, lane)).data();
    const auto value = [&](auto column) { return mortar_values[slots[column]]; };
    if (way == Way::single)
      projected[lane] = pattern.to_points(value);
    else
      pattern.project(value, projected[lane]);
    for (std::size_t entity = 0; entity < entities_of_element; ++entity)
      if (way == Way::single || pattern.is_split(entity))
        views[entity][lane] = &projected[lane][first_of_entity<order>(entity)];
  }
  constexpr std::size_t first_face = vertices_of_element + edges_of_element;
  place<order, 0, vertices_of_element, 1>(views, into);
  place<order, vertices_of_element, first_face, inner<order>>(views, into);
  place<order, first_face, entities_of_element, inner<order> * inner<order>>(views, into);
}

/// Elements whose columns are points take the values as they are.
template <int order>
template <class Spread>
void BatchMortars<order>::write_by(std::size_t batch, const Whole<order>& from, double* contributions,
                                   Spread spread) const {
  BoundaryValues<order> values[batch_elements];
  double* to[batch_elements];
  for (std::size_t lane = 0; lane < batch_elements; ++lane) {
    const std::size_t element = batch * batch_elements + lane;
    const bool direct = element < elements_ && pattern_of(element).is_plain();
    to[lane] = direct ? contributions + mortars_->first(element) : values[lane].data();
  }
  for (std::size_t i = 0; i < boundary_points<order>; ++i)
    scatter(from.at[boundary<order>[i]], to, i, AllLanes{});
  for (std::size_t lane = 0; lane < batch_elements; ++lane) {
    const std::size_t element = batch * batch_elements + lane;
    if (element < elements_ && !pattern_of(element).is_plain())
      spread(pattern_of(element), values[lane], contributions + mortars_->first(element));
  }
}

template <int order>
void BatchMortars<order>::write(std::size_t batch, const Whole<order>& from, double* contributions) const {
  write_by(batch, from, contributions,
           [](const Pattern<order>& pattern, const BoundaryValues<order>& values, double* columns) {
             pattern.to_columns(values, columns);
           });
}

template <int order>
void BatchMortars<order>::write_averages(std::size_t batch, const Whole<order>& from,
                                         double* contributions) const {
  write_by(batch, from, contributions,
           [](const Pattern<order>& pattern, const BoundaryValues<order>& values, double* columns) {
             pattern.to_averages(values, columns);
           });
}

#define TAILRACE_COMPILE(order) template class BatchMortars<order>;
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
