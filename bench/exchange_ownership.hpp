// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "adaptive_mesh.hpp"
#include "tailrace/box.hpp"
#include "tailrace/exchange/distribution.hpp"
#include "tailrace/exchange/shared_numbering.hpp"

namespace tailrace::bench {

/// Elements in equal blocks of Morton order, and the mortar points numbered so that a distribution of their
/// indices gives them the owners that a rule wants.
struct OwnedMortars {
  exchange::Distribution distribution;
  std::vector<std::int64_t> indices;  ///< those of `Mortars`, with these numbers

  /// The indices that a rank touches.
  [[nodiscard]] std::vector<std::int64_t> of_rank(const Mortars& mortars, int rank) const;
};

/// Equal blocks of Morton order, as adaptive meshes are shared out.
Range elements_of_rank(const Mortars& mortars, int ranks, int rank);
/// The owner of each point among the ranks that touch it.
std::vector<int> owners_of(const Mortars& mortars, int ranks, exchange::OwnerRule rule);

/// block, cyclic, double_block, reversed_double_block (as the indices are), lowest_rank and balanced (among
/// the ranks that touch, by the rules of `exchange::number_shared`).
const std::vector<std::string>& ownership_rules();
OwnedMortars own(const Mortars& mortars, const std::string& rule, int ranks);

}  // namespace tailrace::bench
