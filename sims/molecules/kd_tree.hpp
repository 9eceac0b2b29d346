// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition.hpp"
#include "load_table.hpp"

namespace tailrace::molecules {

enum class CutAxes { any, longest };

struct KdOptions {
  std::int64_t min_cells = 2;  ///< that a region has along each axis, as long as there are enough of them
  CutAxes axes = CutAxes::any;
  int full_search_ranks = 8;  ///< up to so many ranks several cuts are tried, beyond it the most promising
};

/// Divides the cells among ranks by recursive bisection, such that loads are in proportion to the speeds: the
/// sum over ranks of speed (load / speed / mean - 1)^2 is small, and few loaded cells lie beside the cuts.
/// `speeds`: one per rank, or none where all are equal. Cost: log(ranks) looks at each plane of the cells,
/// times a constant below `full_search_ranks`. More ranks than cells: the last ones remain without any.
std::vector<Cut> plan_cuts(const LoadTable& loads, int ranks, std::span<const double> speeds,
                           const KdOptions& options);

}  // namespace tailrace::molecules
