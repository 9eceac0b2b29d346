// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "adaptive_mesh.hpp"
#include "tailrace/exchange/distribution.hpp"

namespace tailrace::bench {

/// Elements in equal blocks of Morton order, and the mortar points numbered so that a distribution of their
/// indices gives them the owners that a rule wants.
struct OwnedMortars {
  exchange::Distribution distribution;
  std::vector<std::int64_t> indices;  ///< those of `Mortars`, with these numbers

  /// The indices that a rank touches.
  [[nodiscard]] std::vector<std::int64_t> of_rank(const Mortars& mortars, int rank) const;
};

/// block, cyclic, double_block, reversed_double_block (as the indices are), lowest_rank and balanced (among
/// the ranks that touch, by the rules of `exchange::number_shared`).
const std::vector<std::string>& ownership_rules();
OwnedMortars own(const Mortars& mortars, const std::string& rule, int ranks);

}  // namespace tailrace::bench
