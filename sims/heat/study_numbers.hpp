// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/shared_numbering.hpp"

namespace tailrace::heat {

/// Which rank owns which mortar points. Results do not depend on it.
enum class Owners : std::uint8_t {
  touching,  ///< the lowest rank that touches a point
  balanced,  ///< of the ranks that touch it (`exchange::OwnerRule::balanced`)
  /// Four rules of numbers alone, those of A. A. Korzh, NPB UA on thousands of Blue Gene/P cores with a PGAS
  /// extension of OpenMP, 2010: contiguous shares of all points; one point by another; shares of the vertices
  /// and of the others; the same with the latter handed out from the last rank to the first.
  block,
  cyclic,
  double_block,
  reversed_double_block,
  own,  ///< a rule of numbers alone that the program gives
};
/// Who owns which of so many vertices and other mortar points, whose numbers follow those of all vertices.
using NumberRule =
    std::function<exchange::Distribution(std::int64_t vertices, std::int64_t others, int ranks)>;
/// The rules of Korzh. @local
NumberRule rule_of_study(Owners rule);

constexpr bool owns_by_number(Owners rule) noexcept {
  return rule != Owners::touching && rule != Owners::balanced;
}
/// How points are shared out while they are numbered.
constexpr exchange::OwnerRule numbering_rule(Owners rule) noexcept {
  return rule == Owners::balanced ? exchange::OwnerRule::balanced : exchange::OwnerRule::lowest_rank;
}

/// Numbers the points anew for a rule of numbers alone, which becomes their distribution: all vertices before
/// all others, each in the order in which elements touch them. In `numbers` the lowest rank that touches a
/// point owns it, and this rank's are `vertices` of them before all others. @collective{comm}, synchronises.
/// Cost: a sum of 8 bytes per rank.
void number_by_kind(mpi::CommView comm, const NumberRule& rule, std::int64_t vertices,
                    exchange::SharedNumbers& numbers);

}  // namespace tailrace::heat
