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
template <std::size_t first, std::size_t end, std::size_t count>
inline void place(const double* const (*views)[batch_elements], Whole& into) noexcept {
  for (std::size_t entity = first; entity < end; ++entity)
    for (std::size_t i = 0; i < count; ++i)
      into.at[boundary[first_of_entity(entity) + i]] = gathered(views[entity], i, AllLanes{});
}

}  // namespace

void BatchMortars::rebuild(const Mortars& mortars, std::size_t elements) {
  mortars_ = &mortars;
  elements_ = elements;
  slots_.assign(batches_of(elements), {});
  for (std::size_t batch = 0; batch < slots_.size(); ++batch)
    for (std::size_t lane = 0; lane < batch_elements; ++lane) {
      const Pattern& pattern = mortars.pattern(element_in(batch, lane));
      const auto slots = mortars.slots_of(element_in(batch, lane));
      for (std::size_t entity = 0; entity < entities_of_element; ++entity)
        if (!pattern.is_split(entity)) slots_[batch].of[entity][lane] = slots[pattern.first_column(entity)];
    }
  ways_.clear();
  for (std::size_t element = 0; element < elements; ++element) ways_.push_back(way_of(element));
}

/// Ranks that own points by number may have parts of an edge or a face.
BatchMortars::Way BatchMortars::way_of(std::size_t element) const {
  const Pattern& pattern = mortars_->pattern(element);
  const auto slots = mortars_->slots_of(element);
  for (std::size_t entity = 0; entity < entities_of_element; ++entity) {
    if (pattern.is_split(entity)) continue;
    const std::size_t first = pattern.first_column(entity),
                      count = first_of_entity(entity + 1) - first_of_entity(entity);
    for (std::size_t i = 1; i < count; ++i)
      if (slots[first + i] != slots[first] + static_cast<std::int32_t>(i)) return Way::single;
  }
  return pattern.is_plain() ? Way::direct : Way::projected;
}

void BatchMortars::read(std::size_t batch, const double* mortar_values, Whole& into) const {
  const double* views[entities_of_element][batch_elements];
  BoundaryValues projected[batch_elements];
  for (std::size_t entity = 0; entity < entities_of_element; ++entity)
    for (std::size_t lane = 0; lane < batch_elements; ++lane)
      views[entity][lane] = mortar_values + slots_[batch].of[entity][lane];
  for (std::size_t lane = 0; lane < batch_elements; ++lane) {
    const Way way = ways_[element_in(batch, lane)];
    if (way == Way::direct) continue;
    const Pattern& pattern = mortars_->pattern(element_in(batch, lane));
    const std::int32_t* const slots = mortars_->slots_of(element_in(batch, lane)).data();
    const auto value = [&](auto column) { return mortar_values[slots[column]]; };
    if (way == Way::single)
      projected[lane] = pattern.to_points(value);
    else
      pattern.project(value, projected[lane]);
    for (std::size_t entity = 0; entity < entities_of_element; ++entity)
      if (way == Way::single || pattern.is_split(entity))
        views[entity][lane] = &projected[lane][first_of_entity(entity)];
  }
  constexpr std::size_t first_face = vertices_of_element + edges_of_element;
  place<0, vertices_of_element, 1>(views, into);
  place<vertices_of_element, first_face, inner>(views, into);
  place<first_face, entities_of_element, inner * inner>(views, into);
}

/// Elements whose columns are points take the values as they are.
template <class Spread>
void BatchMortars::write_by(std::size_t batch, const Whole& from, double* contributions,
                            Spread spread) const {
  BoundaryValues values[batch_elements];
  double* to[batch_elements];
  for (std::size_t lane = 0; lane < batch_elements; ++lane) {
    const std::size_t element = batch * batch_elements + lane;
    const bool direct = element < elements_ && mortars_->pattern(element).is_plain();
    to[lane] = direct ? contributions + mortars_->first(element) : values[lane].data();
  }
  for (std::size_t i = 0; i < boundary_points; ++i) scatter(from.at[boundary[i]], to, i, AllLanes{});
  for (std::size_t lane = 0; lane < batch_elements; ++lane) {
    const std::size_t element = batch * batch_elements + lane;
    if (element < elements_ && !mortars_->pattern(element).is_plain())
      spread(mortars_->pattern(element), values[lane], contributions + mortars_->first(element));
  }
}

void BatchMortars::write(std::size_t batch, const Whole& from, double* contributions) const {
  write_by(batch, from, contributions,
           [](const Pattern& pattern, const BoundaryValues& values, double* columns) {
             pattern.to_columns(values, columns);
           });
}

void BatchMortars::write_averages(std::size_t batch, const Whole& from, double* contributions) const {
  write_by(batch, from, contributions,
           [](const Pattern& pattern, const BoundaryValues& values, double* columns) {
             pattern.to_averages(values, columns);
           });
}

}  // namespace tailrace::heat
