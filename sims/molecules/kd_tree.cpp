// SPDX-License-Identifier: BSD-3-Clause
#include "kd_tree.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.hpp"

namespace tailrace::molecules {

namespace {

/// Cuts that are tried for a branch of few ranks. With 6, a search over 8 ranks looks at 144 branches.
constexpr std::size_t max_attempts = 6;

/// A third of the pairs of a slab of cells reach through a cut beside it. Each is then computed on both
/// sides: the slab's load grows by a sixth.
constexpr double cut_share = 1.0 / 6;

struct Branch {
  CellBox cells;
  int first = 0, ranks = 0;
};

struct Candidate {
  Cut cut;
  double cut_cost = 0;
  double min_cost = 0;  ///< cost of the cut, and of both sides if each were divided perfectly
};

struct Plan {
  double cost = std::numeric_limits<double>::infinity();
  std::vector<Cut> cuts;
};

class Planner {
 public:
  Planner(const LoadTable& loads, int ranks, std::span<const double> speeds, const KdOptions& options)
      : loads_(loads), options_(options), speeds_before_{0} {
    TAILRACE_CHECK(options.min_cells > 0, "a region has a cell");
    if (max_ranks(loads.grid().whole()) < ranks) options_.min_cells = 1;
    ranks_ = static_cast<int>(std::min<std::int64_t>(ranks, max_ranks(loads.grid().whole())));
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_); ++rank)
      speeds_before_.push_back(speeds_before_.back() + (speeds.empty() ? 1.0 : speeds[rank]));
    mean_ = loads.load(loads.grid().whole()) / speeds_before_.back();
  }

  [[nodiscard]] Plan plan() const { return best({loads_.grid().whole(), 0, ranks_}); }

 private:
  /// Ranks among which the cells can be divided.
  [[nodiscard]] std::int64_t max_ranks(const CellBox& cells) const noexcept {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < 3; ++d)
      product *= std::max<std::int64_t>(1, cells.extent(d) / options_.min_cells);
    return product;
  }
  [[nodiscard]] double speed(int first, int ranks) const noexcept {
    return speeds_before_[static_cast<std::size_t>(first + ranks)] -
           speeds_before_[static_cast<std::size_t>(first)];
  }
  /// The cost of cells that these ranks share in proportion to their speeds: no division of them costs less.
  [[nodiscard]] double min_cost(const Branch& branch) const noexcept {
    const double together = speed(branch.first, branch.ranks);
    const double excess = mean_ > 0 ? loads_.load(branch.cells) / together / mean_ - 1 : 0;
    return together * excess * excess;
  }

  [[nodiscard]] static std::array<Branch, 2> divided(const Branch& branch, const Cut& cut) noexcept {
    Branch low = branch, high = branch;
    low.cells.high[cut.axis] = high.cells.low[cut.axis] = cut.plane;
    low.ranks = cut.low_ranks;
    high.ranks -= cut.low_ranks;
    high.first += cut.low_ranks;
    return {low, high};
  }

  /// Returns what the pairs through a cut cost, as if all ranks of the branch shared it.
  [[nodiscard]] double cut_cost(const Branch& branch, const Cut& cut) const noexcept {
    if (mean_ <= 0) return 0;
    CellBox beside = branch.cells;
    beside.low[cut.axis] = cut.plane - 1;
    beside.high[cut.axis] = cut.plane + 1;
    const double extra = cut_share * loads_.load(beside) / mean_;
    return extra * extra / speed(branch.first, branch.ranks);
  }

  /// Both numbers of ranks below a plane that are next to the load's share, as far as the cells suffice.
  void add_candidates(const Branch& branch, std::size_t axis, std::int64_t plane,
                      std::vector<Candidate>& candidates) const {
    const auto [low, high] = divided(branch, {axis, plane, 0});
    const auto fewest = static_cast<int>(std::max<std::int64_t>(1, branch.ranks - max_ranks(high.cells)));
    const auto most = static_cast<int>(std::min<std::int64_t>(branch.ranks - 1, max_ranks(low.cells)));
    if (fewest > most) return;
    const auto begin = speeds_before_.begin() + branch.first;
    const double total = loads_.load(branch.cells);
    const double share =
        total > 0 ? loads_.load(low.cells) / total
                  : static_cast<double>(low.cells.volume()) / static_cast<double>(branch.cells.volume());
    const auto above =
        std::upper_bound(begin, begin + branch.ranks, *begin + share * speed(branch.first, branch.ranks));
    const int next = std::clamp(static_cast<int>(above - begin), fewest, most);
    const int before = std::clamp(next - 1, fewest, most);
    for (int ranks = before; ranks <= next; ++ranks) {
      Candidate one{.cut = {axis, plane, ranks}};
      one.cut_cost = one.min_cost = cut_cost(branch, one.cut);
      for (const Branch& side : divided(branch, one.cut)) one.min_cost += min_cost(side);
      candidates.push_back(one);
    }
  }

  /// All cuts of a branch, the most promising first.
  [[nodiscard]] std::vector<Candidate> candidates(const Branch& branch) const {
    const auto extents = {branch.cells.extent(0), branch.cells.extent(1), branch.cells.extent(2)};
    std::vector<Candidate> found;
    for (const bool longest : {true, false}) {
      if (!longest && options_.axes == CutAxes::longest && !found.empty()) break;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if ((branch.cells.extent(axis) == std::max(extents)) != longest) continue;
        for (std::int64_t plane = branch.cells.low[axis] + options_.min_cells;
             plane <= branch.cells.high[axis] - options_.min_cells; ++plane)
          add_candidates(branch, axis, plane, found);
      }
    }
    const auto promise = [&](const Candidate& one) {
      const int fewer = std::min(one.cut.low_ranks, branch.ranks - one.cut.low_ranks);
      // Slices of few ranks leave many thin regions: costs know nothing of the area of later cuts.
      const bool slice = branch.ranks > options_.full_search_ranks && fewer < branch.ranks / 3;
      return std::tuple(slice, one.min_cost, -fewer);
    };
    std::ranges::stable_sort(found, {}, promise);
    return found;
  }

  [[nodiscard]] Plan best(const Branch& branch) const {
    if (branch.ranks == 1) return {.cost = min_cost(branch), .cuts = {}};
    auto attempts = candidates(branch);
    TAILRACE_CHECK(!attempts.empty(), "cells suffice for their ranks");
    attempts.resize(std::min(attempts.size(), branch.ranks <= options_.full_search_ranks ? max_attempts : 1));
    Plan best_plan;
    for (const Candidate& attempt : attempts) {
      if (attempt.min_cost >= best_plan.cost) break;
      const auto sides = divided(branch, attempt.cut);
      Plan low = best(sides[0]);
      const Plan high = best(sides[1]);
      const double cost = attempt.cut_cost + low.cost + high.cost;
      if (cost >= best_plan.cost) continue;
      best_plan = {.cost = cost, .cuts = {attempt.cut}};
      best_plan.cuts.insert(best_plan.cuts.end(), low.cuts.begin(), low.cuts.end());
      best_plan.cuts.insert(best_plan.cuts.end(), high.cuts.begin(), high.cuts.end());
    }
    return best_plan;
  }

  const LoadTable& loads_;
  KdOptions options_;
  int ranks_ = 0;
  std::vector<double> speeds_before_;  ///< sums over the ranks before each
  double mean_ = 0;                    ///< load per speed
};

}  // namespace

std::vector<Cut> plan_cuts(const LoadTable& loads, int ranks, std::span<const double> speeds,
                           const KdOptions& options) {
  TAILRACE_CHECK(ranks > 0 && (speeds.empty() || static_cast<int>(speeds.size()) == ranks),
                 "a speed for each rank");
  return Planner(loads, ranks, speeds, options).plan().cuts;
}

}  // namespace tailrace::molecules
