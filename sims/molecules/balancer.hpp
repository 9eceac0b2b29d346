// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decomposition.hpp"
#include "kd_tree.hpp"
#include "tailrace/comm.hpp"
#include "work.hpp"

namespace tailrace::molecules {

/// Describes what regions are made from.
enum class LoadMeasure {
  counted,  ///< estimated from numbers of molecules alone: runs repeat bit for bit
  seconds,  ///< the same, where a rank's molecules took longer or shorter, scaled by that
  speeds,   ///< estimated; ranks that took longer for it are slower, and get less
};

struct BalanceOptions {
  LoadMeasure measure = LoadMeasure::counted;
  double limit = 1.1;  ///< largest load over mean load that is left alone
  KdOptions kd;
};

/// Finds decompositions in which all ranks have as much to do. One rank holds the numbers of molecules of all
/// cells and searches (see `work_grid` for how many); the others get its cuts, 8 bytes per rank.
class Balancer {
 public:
  Balancer(mpi::CommView comm, const Vec3& box, double cutoff, const BalanceOptions& options);

  /// Cells in which `CellCounter` counts for it.
  [[nodiscard]] const CellGrid& grid() const noexcept { return grid_; }
  /// A k-d tree by estimated work. `own`: this rank's molecules. @collective{comm}, synchronises.
  [[nodiscard]] Decomposition plan(const CellCounter& own) const;
  /// A better decomposition, if the loads of the ranks are over the limit and there is one. `load`: pairs or
  /// seconds of this rank since the last call; all ranks measure the same. @collective{comm}, synchronises.
  /// Cost: two reductions; over the limit, 8 bytes to rank 0 for each cell that has molecules, and the cuts.
  [[nodiscard]] std::optional<Decomposition> improve(const CellCounter& own, double load);
  /// Largest load over mean load at the last `improve`.
  [[nodiscard]] double imbalance() const noexcept { return imbalance_; }

 private:
  [[nodiscard]] std::vector<std::int64_t> best_numbers(const CellCounter& own, double load,
                                                       double imbalance_now) const;
  [[nodiscard]] std::optional<Decomposition> share(std::vector<std::int64_t> numbers) const;

  mpi::CommView comm_;
  CellGrid grid_;
  double cutoff_;
  BalanceOptions options_;
  double imbalance_ = 1;
};

/// Describes what each rank reported rank 0.
struct RankCounts {
  double load = 0;  ///< measured
  std::vector<CellCounter::Count> cells;
};

/// Loads of cells, and speeds of ranks relative to each other.
struct Loads {
  std::vector<double> cells, speeds;
};
Loads estimate_loads(const CellGrid& grid, double cutoff, std::span<const RankCounts> ranks,
                     LoadMeasure measure);

/// Largest load of a region, in relation to its rank's speed, over the mean.
double predicted_imbalance(const LoadTable& loads, const Decomposition& decomposition,
                           std::span<const double> speeds);

}  // namespace tailrace::molecules
