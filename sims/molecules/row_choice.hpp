// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

namespace tailrace::molecules {

/// Rows that a molecule's cutoff may be cut into, at most.
inline constexpr int max_cells_per_cutoff = 8;

/// Into how many rows the cutoff is best cut where a molecule has so many pairs within it, counted once: rows
/// are the lower the more crowded they are, such that what a sphere meets of one still fills vectors. The
/// mean over all molecules counts crowds as often as there are molecules in them. Constants are measured, see
/// docs/explain/molecules_forces.md. `now`: stays unless another one is better by far. @local
inline int best_cells_per_cutoff(double pairs_per_molecule, int now) noexcept {
  constexpr double pairs_per_cell = 20, margin = 1.15;
  const auto best = [](double pairs) {
    return static_cast<int>(std::clamp(std::cbrt(pairs / pairs_per_cell), 1.0, 1.0 * max_cells_per_cutoff));
  };
  return std::clamp(now, best(pairs_per_molecule / margin), best(pairs_per_molecule * margin));
}

}  // namespace tailrace::molecules
