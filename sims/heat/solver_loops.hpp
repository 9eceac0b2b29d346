// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solver.hpp"

/// Loops of the solver that its sources share.
namespace tailrace::heat {

template <class Body>
void Solver::for_each_batch(Body body) {
  const auto count = static_cast<std::int64_t>(batches());
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < count; ++b) body(static_cast<std::size_t>(b));
}

template <class Body>
void Solver::for_each_lane(std::size_t batch, Body body) const {
  const std::size_t first = batch * batch_elements, count = std::min(batch_elements, elements() - first);
  for (std::size_t lane = 0; lane < count; ++lane) body(first + lane, lane);
}

/// What the points inside of an element contribute to the diagonal.
inline std::array<Pattern::Diagonal, inner_points> inner_energies() noexcept {
  std::array<Pattern::Diagonal, inner_points> parts;
  for (std::size_t p = 0; p < inner_points; ++p) {
    std::array<double, element_points> unit{};
    unit[whole_point(p)] = 1;
    const auto [stiff, mass] = energies_of(unit);
    parts[p] = {stiff, mass};
  }
  return parts;
}

}  // namespace tailrace::heat
