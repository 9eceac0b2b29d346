// SPDX-License-Identifier: BSD-3-Clause
#include "mortars.hpp"

#include <algorithm>
#include <utility>

#include "base/key_numbers.hpp"
#include "base/system.hpp"
#include "surroundings.hpp"

namespace tailrace::heat {

namespace {

struct PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    return std::hash<exchange::Key>{}(Entity{Kind::vertex, 0, place}.key());
  }
};
using Vertices = KeyNumbers<Place, PlaceHash>;

Vertices vertices_of(const Forest& forest, const Surroundings& surroundings) {
  Vertices vertices;
  vertices.reserve(2 * (forest.leaves.size() + surroundings.foreign.size()));
  for (const auto* leaves : {&forest.leaves, &surroundings.foreign})
    for (const Leaf& leaf : *leaves)
      for (std::size_t i = 0; i < vertices_of_element; ++i) vertices.number(corner(leaf, i));
  return vertices;
}

Splits splits_of(const Leaf& leaf, const Vertices& vertices) {
  Splits splits = 0;
  for (std::size_t edge = 0; edge < edges_of_element; ++edge)
    if (vertices.find(middle_of_edge(leaf, edge)) >= 0) splits |= 1U << edge;
  for (std::size_t face = 0; face < faces_of_element; ++face)
    if (vertices.find(middle_of_face(leaf, face)) >= 0) splits |= 1U << (edges_of_element + face);
  return splits;
}

/// Of the lists for all ranks.
template <class Told, class Item>
std::int64_t total_length(const std::vector<Told>& ranks, std::vector<Item> Told::*list) {
  std::int64_t length = 0;
  for (const Told& one : ranks) length += static_cast<std::int64_t>((one.*list).size());
  return length;
}

}  // namespace

/// The entities of this rank's elements under way to their numbers: in groups by kind, first all vertices,
/// then edges, then faces, or the latter two in one, each in the order in which elements touch them.
struct Mortars::Numbering {
  struct Mention {
    std::uint8_t group = 0;
    std::int32_t entity = 0;  ///< in the group
  };
  Numbering(bool together, int of_order) : groups(together ? 2 : kinds), order(of_order) {}

  void add(const Leaf& leaf, Splits splits) {
    first_mention.push_back(static_cast<std::int32_t>(mentions.size()));
    for_each_entity(leaf, splits, [&](const Entity& entity) {
      const auto group = std::min(static_cast<std::size_t>(entity.kind), groups - 1);
      auto& list = entities[group];
      const auto [number, is_new] = known[group].number(entity.key());
      if (is_new) list.push_back(entity);
      mentions.push_back({static_cast<std::uint8_t>(group), number});
    });
  }
  [[nodiscard]] std::int32_t offset(std::size_t group) const noexcept {
    std::size_t before = 0;
    for (std::size_t g = 0; g < group; ++g) before += entities[g].size();
    return static_cast<std::int32_t>(before);
  }
  void finish() {
    first_mention.push_back(static_cast<std::int32_t>(mentions.size()));
    for (const auto& list : entities)
      for (const Entity& entity : list) keys.push_back({entity.key(), points_of(entity.kind, order)});
    const std::array<std::int32_t, kinds> offsets{offset(0), offset(1), offset(2)};
    mentioned.reserve(mentions.size());
    for (const auto& [group, entity] : mentions) mentioned.push_back(offsets[group] + entity);
  }
  [[nodiscard]] std::vector<exchange::Sharer> sharers(const Surroundings& surroundings) const {
    std::vector<exchange::Sharer> list;
    for (const auto& [rank, leaves] : surroundings.neighbours) {
      auto& shared = list.emplace_back(exchange::Sharer{rank, {}}).keys;
      for (const std::int32_t leaf : leaves) {
        const auto at = static_cast<std::size_t>(leaf);
        shared.insert(shared.end(), mentioned.begin() + first_mention[at],
                      mentioned.begin() + first_mention[at + 1]);
      }
      std::sort(shared.begin(), shared.end());
      shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
    }
    return list;
  }

  std::size_t groups;
  int order;
  std::array<KeyNumbers<exchange::Key>, kinds> known;
  std::array<std::vector<Entity>, kinds> entities;
  std::vector<Mention> mentions;
  std::vector<std::int32_t> first_mention;
  std::vector<exchange::NumberedKey> keys;
  std::vector<std::int32_t> mentioned;  ///< the place of each mention among all keys
};

Mortars::Mortars(mpi::CommView comm, ExchangeOptions options, int order)
    : comm_(comm), options_(std::move(options)), order_(order) {}

Mortars::Rebuilt Mortars::rebuild(const Forest& forest, MeshTrafficCounter traffic) {
  const double start_s = monotonic_s();
  const auto surroundings = look_around(comm_, forest);
  traffic.add(MeshTraffic::surroundings,
              total_length(surroundings.neighbours, &Surroundings::Neighbour::leaves));
  const auto vertices = vertices_of(forest, surroundings);
  at_rim_.assign(forest.leaves.size(), false);
  for (const auto& neighbour : surroundings.neighbours)
    for (const std::int32_t leaf : neighbour.leaves) at_rim_[static_cast<std::size_t>(leaf)] = true;
  Numbering numbering(owns_by_number(options_.owners), order_);
  splits_of_.clear();
  for (const Leaf& leaf : forest.leaves) {
    splits_of_.push_back(splits_of(leaf, vertices));
    numbering.add(leaf, splits_of_.back());
  }
  numbering.finish();
  auto numbers = [&] {
    const auto sharers = numbering.sharers(surroundings);
    auto found = exchange::number_shared(comm_, numbering.keys, sharers, numbering_rule(options_.owners));
    traffic.add(MeshTraffic::numbering, total_length(sharers, &exchange::Sharer::keys));
    return found;
  }();
  total_ = numbers.distribution.size();
  find_own(numbering, numbers);
  if (owns_by_number(options_.owners)) {
    const auto rule = options_.owners == Owners::own ? options_.own_rule : rule_of_study(options_.owners);
    number_by_kind(comm_, rule, owned_entities_[0], numbers);
  }
  const double numbered_s = monotonic_s();
  make_map(numbering, numbers);
  traffic.add(MeshTraffic::map, map_->describe().landing);
  distribution_ = numbers.distribution;
  find_rim();
  find_boundary(numbering);
  if (!owns_by_number(options_.owners)) return {numbered_s - start_s, monotonic_s() - numbered_s, traffic};
  if (options_.sum == SumRule::exact) {
    make_product_map(numbering, numbers);
    traffic.add(MeshTraffic::map, product_map_->describe().landing);
  } else {  // point by point, whatever each lies on
    owned_entities_ = {static_cast<std::int64_t>(owned()), 0, 0};
  }
  return {numbered_s - start_s, monotonic_s() - numbered_s, traffic};
}

/// How many entities of each kind this rank owns, or numbers.
void Mortars::find_own(const Numbering& numbering, const exchange::SharedNumbers& numbers) {
  owned_entities_ = {};
  for (const std::int32_t key : numbers.own) {
    std::size_t group = 0;
    while (group + 1 < kinds && key >= numbering.offset(group + 1)) ++group;
    ++owned_entities_[group];
  }
}

void Mortars::make_map(const Numbering& numbering, const exchange::SharedNumbers& numbers) {
  std::vector<std::int64_t> indices;
  first_.clear();
  std::size_t mention = 0;
  for (const std::int32_t end : numbering.first_mention) {
    for (; mention < static_cast<std::size_t>(end); ++mention) {
      const auto key = static_cast<std::size_t>(numbering.mentioned[mention]);
      for (std::int64_t i = 0; i < numbering.keys[key].count; ++i) indices.push_back(numbers.first[key] + i);
    }
    first_.push_back(indices.size());
  }
  if (map_)
    map_->rebuild(numbers.distribution, indices);
  else
    map_.emplace(exchange::AccessMap::make(comm_, numbers.distribution, indices, options_.access()));
}

/// Adds to those beside elements of other ranks the elements that have points of other ranks.
void Mortars::find_rim() {
  if (!options_.overlap) return at_rim_.assign(at_rim_.size(), true);
  for (std::size_t element = 0; element < at_rim_.size(); ++element)
    for (const std::int32_t slot : slots_of(element))
      if (static_cast<std::size_t>(slot) >= owned()) at_rim_[element] = true;
}

void Mortars::find_boundary(const Numbering& numbering) {
  boundary_.clear();
  std::int32_t position = 0;
  for (const auto& [group, number] : numbering.mentions) {
    const Entity& entity = numbering.entities[group][static_cast<std::size_t>(number)];
    for (std::int64_t i = 0; i < points_of(entity.kind, order_); ++i, ++position)
      if (entity.is_on_boundary()) boundary_.push_back(position);
  }
}

void Mortars::make_product_map(const Numbering& numbering, const exchange::SharedNumbers& numbers) {
  std::vector<std::int64_t> indices;
  product_ends_.clear();
  for (const std::int32_t key : numbers.own) {
    const auto at = static_cast<std::size_t>(key);
    for (std::int64_t i = 0; i < numbering.keys[at].count; ++i) indices.push_back(numbers.first[at] + i);
    product_ends_.push_back(indices.size());
  }
  auto access = options_.access();
  access.order = exchange::Order::fast;  // it is only gathered by
  if (product_map_)
    product_map_->rebuild(numbers.distribution, indices);
  else
    product_map_.emplace(exchange::AccessMap::make(comm_, numbers.distribution, indices, access));
  products_.assign(static_cast<std::size_t>(product_map_->array_size()), 0);
}

void Mortars::add_travelled_products(Sum& sum) {
  product_map_->begin_gather(product_map_->view(std::span(products_))).finish();
  const auto slots = product_map_->slots();
  const auto value = [&](std::size_t position) {
    return products_[static_cast<std::size_t>(slots[position])];
  };
  std::size_t position = 0;
  for (const std::size_t end : product_ends_) {
    double one = value(position);
    while (++position < end) one += value(position);
    sum.add(one);
  }
}

std::vector<std::int64_t> Mortars::access_pattern() {
  std::vector<std::int64_t> numbers(slots());
  for (std::size_t slot = 0; slot < owned(); ++slot)
    numbers[slot] = distribution_->global(comm_.rank(), static_cast<std::int64_t>(slot));
  map_->begin_gather(map_->view(std::span(numbers))).finish();
  const auto mine = static_cast<std::int64_t>(splits_of_.size());
  const std::int64_t before = mpi::exclusive_scan(comm_, mine), elements = mpi::sum(comm_, mine);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(access_bins * access_bins));
  for (std::size_t element = 0; element < splits_of_.size(); ++element) {
    const std::int64_t row = (before + static_cast<std::int64_t>(element)) * access_bins / elements;
    for (const std::int32_t slot : slots_of(element))
      ++counts[static_cast<std::size_t>(row * access_bins +
                                        numbers[static_cast<std::size_t>(slot)] * access_bins / total_)];
  }
  return mpi::sum(comm_, counts);
}

void Mortars::mark_step(StepIndex step) noexcept {
  map_->mark_step(step);
  if (product_map_) product_map_->mark_step(step);
}

exchange::Flight Mortars::begin_gather(std::span<double> values) {
  return map_->begin_gather(map_->view(values));
}

exchange::Flight Mortars::begin_scatter(std::span<double> contributions, std::span<double> sums) {
  std::fill_n(sums.begin(), owned(), 0.0);
  return map_->begin_scatter_add(exchange::Contribution{map_->view(contributions), map_->view(sums)});
}

std::int64_t Mortars::memory_bytes() const noexcept {
  const auto bytes = first_.capacity() * sizeof first_[0] + splits_of_.capacity() * sizeof splits_of_[0] +
                     boundary_.capacity() * sizeof boundary_[0];
  return static_cast<std::int64_t>(bytes + products_.capacity() * sizeof products_[0] +
                                   product_ends_.capacity() * sizeof product_ends_[0]) +
         (map_ ? map_->describe().memory_bytes : 0) +
         (product_map_ ? product_map_->describe().memory_bytes : 0);
}

}  // namespace tailrace::heat
