// SPDX-License-Identifier: BSD-3-Clause
#include "mortars.hpp"

#include <algorithm>
#include <utility>

#include "base/key_numbers.hpp"
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

}  // namespace

/// The entities of this rank's elements under way to their numbers: those of a kind by the order in which
/// elements touch them, first all vertices, then edges, then faces.
struct Mortars::Numbering {
  struct Mention {
    std::uint8_t kind = 0;
    std::int32_t entity = 0;  ///< among those of its kind
  };

  void add(const Leaf& leaf, Splits splits) {
    first_mention.push_back(static_cast<std::int32_t>(mentions.size()));
    for_each_entity(leaf, splits, [&](const Entity& entity) {
      const auto kind = static_cast<std::size_t>(entity.kind);
      auto& list = entities[kind];
      const auto [number, is_new] = known[kind].number(entity.key());
      if (is_new) list.push_back(entity);
      mentions.push_back({static_cast<std::uint8_t>(kind), number});
    });
  }
  [[nodiscard]] std::int32_t offset(std::size_t kind) const noexcept {
    std::size_t before = 0;
    for (std::size_t k = 0; k < kind; ++k) before += entities[k].size();
    return static_cast<std::int32_t>(before);
  }
  [[nodiscard]] std::vector<exchange::NumberedKey> keys() const {
    std::vector<exchange::NumberedKey> keys;
    for (const auto& list : entities)
      for (const Entity& entity : list) keys.push_back({entity.key(), points_of(entity.kind)});
    return keys;
  }
  /// The place of each mention among all keys.
  [[nodiscard]] std::vector<std::int32_t> keys_of_mentions() const {
    std::vector<std::int32_t> list;
    list.reserve(mentions.size());
    const std::array<std::int32_t, kinds> offsets{offset(0), offset(1), offset(2)};
    for (const auto& [kind, entity] : mentions) list.push_back(offsets[kind] + entity);
    return list;
  }
  [[nodiscard]] std::vector<exchange::Sharer> sharers(const Surroundings& surroundings,
                                                      const std::vector<std::int32_t>& keys) const {
    std::vector<exchange::Sharer> list;
    for (const auto& [rank, leaves] : surroundings.neighbours) {
      auto& shared = list.emplace_back(exchange::Sharer{rank, {}}).keys;
      for (const std::int32_t leaf : leaves) {
        const auto at = static_cast<std::size_t>(leaf);
        shared.insert(shared.end(), keys.begin() + first_mention[at], keys.begin() + first_mention[at + 1]);
      }
      std::sort(shared.begin(), shared.end());
      shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
    }
    return list;
  }

  std::array<KeyNumbers<exchange::Key>, kinds> known;
  std::array<std::vector<Entity>, kinds> entities;
  std::vector<Mention> mentions;
  std::vector<std::int32_t> first_mention;
};

Mortars::Mortars(mpi::CommView comm, ExchangeOptions options) : comm_(comm), options_(std::move(options)) {}

void Mortars::rebuild(const Forest& forest) {
  const auto surroundings = look_around(comm_, forest);
  const auto vertices = vertices_of(forest, surroundings);
  at_rim_.assign(forest.leaves.size(), false);
  for (const auto& neighbour : surroundings.neighbours)
    for (const std::int32_t leaf : neighbour.leaves) at_rim_[static_cast<std::size_t>(leaf)] = true;
  Numbering numbering;
  patterns_of_.clear();
  for (const Leaf& leaf : forest.leaves) {
    const Splits splits = splits_of(leaf, vertices);
    patterns_of_.push_back(&patterns_.of(splits));
    numbering.add(leaf, splits);
  }
  numbering.first_mention.push_back(static_cast<std::int32_t>(numbering.mentions.size()));
  const auto keys = numbering.keys();
  const auto mentioned = numbering.keys_of_mentions();
  const auto numbers =
      exchange::number_shared(comm_, keys, numbering.sharers(surroundings, mentioned), options_.owners);
  total_ = numbers.distribution.size();

  std::vector<std::int64_t> indices;
  for (const std::int32_t key : mentioned)
    for (std::int64_t i = 0; i < keys[static_cast<std::size_t>(key)].count; ++i)
      indices.push_back(numbers.first[static_cast<std::size_t>(key)] + i);
  first_.assign(1, 0);
  for (const Pattern* pattern : patterns_of_) first_.push_back(first_.back() + pattern->columns());
  if (map_)
    map_->rebuild(numbers.distribution, indices);
  else
    map_.emplace(exchange::AccessMap::make(comm_, numbers.distribution, indices, options_.access()));

  owned_entities_ = {};
  boundary_.clear();
  std::int32_t slot = 0;
  for (const std::int32_t key : numbers.own) {
    std::size_t kind = 0;
    while (kind + 1 < kinds && key >= numbering.offset(kind + 1)) ++kind;
    ++owned_entities_[kind];
    const Entity& entity = numbering.entities[kind][static_cast<std::size_t>(key - numbering.offset(kind))];
    for (std::int64_t i = 0; i < points_of(entity.kind); ++i, ++slot)
      if (entity.is_on_boundary()) boundary_.push_back(slot);
  }
}

exchange::Flight Mortars::begin_gather(std::span<double> values) {
  return map_->begin_gather(map_->view(values));
}

exchange::Flight Mortars::begin_scatter(std::span<double> contributions, std::span<double> sums) {
  std::fill_n(sums.begin(), owned(), 0.0);
  return map_->begin_scatter_add(exchange::Contribution{map_->view(contributions), map_->view(sums)});
}

std::int64_t Mortars::memory_bytes() const noexcept {
  const auto bytes = first_.capacity() * sizeof first_[0] + patterns_of_.capacity() * sizeof patterns_of_[0] +
                     boundary_.capacity() * sizeof boundary_[0];
  return static_cast<std::int64_t>(bytes) + (map_ ? map_->describe().memory_bytes : 0);
}

}  // namespace tailrace::heat
