// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entities.hpp"
#include "forest.hpp"
#include "mesh_traffic.hpp"
#include "order.hpp"
#include "study_numbers.hpp"
#include "sums.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/exchange/access_map.hpp"

namespace tailrace::heat {

/// How mortar values are exchanged and summed up.
struct ExchangeOptions {
  std::string transport = "auto";
  Owners owners = Owners::touching;
  NumberRule own_rule{};  ///< for `Owners::own`
  SumRule sum = SumRule::exact;
  exchange::Order order = exchange::Order::partition_free;
  bool aggregate = true;
  /// False: no element is computed while values are under way, to be compared with.
  bool overlap = true;
  trace::Log* log = nullptr;  ///< of the exchanges

  [[nodiscard]] exchange::AccessOptions access() const {
    return {.transport = transport, .order = order, .aggregate = aggregate, .log = log};
  }
};

/// The mortar points of a mesh, shared out among ranks, and the way between them and the elements. An array
/// of mortar values has a slot per point that this rank owns, then the others that its elements touch. Each
/// element has a position for each of the points on its boundary.
class Mortars {
 public:
  /// For polynomials of this order.
  Mortars(mpi::CommView comm, ExchangeOptions options, int order = npb_order);

  /// Seconds of finding and numbering points, and of the map between them and elements; and what was sent.
  struct Rebuilt {
    double numbering_s = 0, map_s = 0;
    MeshTrafficCounter traffic{};
  };
  /// Finds the points of another mesh, and counts in `traffic`. @collective{comm}, synchronises.
  Rebuilt rebuild(const Forest& forest, MeshTrafficCounter traffic = {});

  [[nodiscard]] std::int64_t total() const noexcept { return total_; }  ///< points of all ranks
  [[nodiscard]] std::size_t owned() const noexcept { return static_cast<std::size_t>(map_->owned()); }
  [[nodiscard]] std::size_t slots() const noexcept { return static_cast<std::size_t>(map_->array_size()); }
  [[nodiscard]] std::size_t positions() const noexcept { return map_->slots().size(); }
  /// Which edges and faces of an element are split.
  [[nodiscard]] Splits splits(std::size_t element) const noexcept { return splits_of_[element]; }
  /// The first position of an element, and the slots of all of them.
  [[nodiscard]] std::size_t first(std::size_t element) const noexcept { return first_[element]; }
  [[nodiscard]] std::span<const std::int32_t> slots_of(std::size_t element) const noexcept {
    return map_->slots().subspan(first_[element], first_[element + 1] - first_[element]);
  }
  [[nodiscard]] const exchange::AccessMap& map() const noexcept { return *map_; }
  /// What brings products to where those of an edge or a face are summed up, if they have to travel.
  [[nodiscard]] const std::optional<exchange::AccessMap>& product_map() const noexcept {
    return product_map_;
  }

  /// Whether an element has points that other ranks own, or may share some with elements of other ranks; all
  /// are, if nothing shall be computed while values are under way.
  [[nodiscard]] bool is_at_rim(std::size_t element) const noexcept { return at_rim_[element]; }
  /// Begins to bring the owners' values to all that need them: elements at the rim. @collective{comm}, does
  /// not wait
  [[nodiscard]] exchange::Flight begin_gather(std::span<double> values);
  /// Whether contributions of elements inside of this rank may come after a scatter has begun. @local
  [[nodiscard]] bool takes_late_contributions() const noexcept {
    return options_.order == exchange::Order::partition_free;
  }
  /// Begins to sum what positions contribute into the owned slots of `sums`: element by element in Morton
  /// order, so that sums do not depend on the number of ranks. Contributions of elements at the rim are there
  /// already; those of the others may still be computed, until the flight finishes, if this
  /// `takes_late_contributions`. @collective{comm}, does not wait
  [[nodiscard]] exchange::Flight begin_scatter(std::span<double> contributions, std::span<double> sums);

  /// Spans of exchanges belong to this step from now on. @local
  void mark_step(StepIndex step) noexcept;

  /// Calls `visit(position)` for points on the boundary of the domain. @local
  template <class Visit>
  void for_each_boundary_position(Visit visit) const {
    for (const std::int32_t position : boundary_) visit(static_cast<std::size_t>(position));
  }
  /// Adds a product for each point: summed up in order within a vertex, edge or face, and by the rule of sums
  /// over these, so that an exact sum does not depend on who owns what. `products(first, count, out)` sets
  /// those of so many owned slots. `order` is that of the polynomials. @collective{comm}: products travel
  /// where ranks own points by number.
  template <int order, class Products>
  void add_products(Sum& sum, Products products) {
    if (product_map_) {
      products(0, owned(), products_.data());
      return add_travelled_products(sum);
    }
    std::size_t slot = 0;
    add_entities<points_of(Kind::vertex, order)>(owned_entities_[0], sum, slot, products);
    add_entities<points_of(Kind::edge, order)>(owned_entities_[1], sum, slot, products);
    add_entities<points_of(Kind::face, order)>(owned_entities_[2], sum, slot, products);
  }
  /// Which mortar points elements access, by their numbers: the count of accesses in each square of
  /// `access_bins` of the elements (a row each) and as many of the points, over all ranks. @collective{comm},
  /// synchronises. Cost: a gather, and a pass over all positions.
  [[nodiscard]] std::vector<std::int64_t> access_pattern();
  static constexpr std::int64_t access_bins = 48;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  struct Numbering;

  void make_map(const Numbering& numbering, const exchange::SharedNumbers& numbers);
  void find_own(const Numbering& numbering, const exchange::SharedNumbers& numbers);
  void find_rim();
  void find_boundary(const Numbering& numbering);
  void make_product_map(const Numbering& numbering, const exchange::SharedNumbers& numbers);
  void add_travelled_products(Sum& sum);

  /// Those of entities with so many points each.
  template <std::int64_t each, class Products>
  static void add_entities(std::int64_t entities, Sum& sum, std::size_t& slot, Products products) {
    constexpr std::size_t at_once = 64, width = static_cast<std::size_t>(each);
    std::array<double, at_once * width> values;
    auto left = static_cast<std::size_t>(entities);
    for (std::size_t some = 0; left > 0; left -= some, slot += some * width) {
      some = std::min(at_once, left);
      products(slot, some * width, values.data());
      for (std::size_t i = 0; i < some; ++i)
        sum.add(std::accumulate(&values[i * width + 1], &values[i * width] + width, values[i * width]));
    }
  }

  mpi::CommView comm_;
  ExchangeOptions options_;
  int order_;
  std::optional<exchange::AccessMap> map_;
  std::vector<Splits> splits_of_;       ///< of each element
  std::vector<std::size_t> first_;      ///< its first position; behind them the end
  std::vector<bool> at_rim_;            ///< elements
  std::vector<std::int32_t> boundary_;  ///< positions
  /// Where ranks own points by number: products of this rank's slots, and of the vertices, edges and faces
  /// that it touches first of all, which end behind so many positions.
  std::optional<exchange::AccessMap> product_map_;
  std::vector<double> products_;
  std::vector<std::size_t> product_ends_;
  std::array<std::int64_t, kinds> owned_entities_{};
  std::int64_t total_ = 0;
  std::optional<exchange::Distribution> distribution_;  ///< of the points
};

}  // namespace tailrace::heat
