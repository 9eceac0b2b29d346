// SPDX-License-Identifier: BSD-3-Clause
#include "balancer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/bytes.hpp"
#include "mpi/packets.hpp"

namespace tailrace::molecules {

namespace {

/// Measured over estimated load of each rank, 1 on average; 1 where nothing was measured. A disturbance makes
/// no rank look more than four times as slow or fast.
std::vector<double> slowness(std::span<const RankCounts> ranks, std::span<const double> estimated) {
  constexpr double most = 4;
  double measured_sum = 0, estimated_sum = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) measured_sum += ranks[r].load, estimated_sum += estimated[r];
  std::vector<double> factors(ranks.size(), 1.0);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (measured_sum > 0 && estimated[r] > 0)
      factors[r] = std::clamp(ranks[r].load / measured_sum * estimated_sum / estimated[r], 1 / most, most);
  return factors;
}

}  // namespace

Loads estimate_loads(const CellGrid& grid, double cutoff, std::span<const RankCounts> ranks,
                     LoadMeasure measure) {
  std::vector<std::int64_t> molecules(static_cast<std::size_t>(grid.volume()));
  for (const RankCounts& rank : ranks)
    for (const auto& [cell, count] : rank.cells) molecules[cell] += count;
  const auto work = work_per_molecule(grid, molecules, cutoff);
  std::vector<double> estimated(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (const auto& [cell, count] : ranks[r].cells) estimated[r] += count * work[cell];

  Loads loads{.cells = std::vector<double>(molecules.size(), work_of_cell),
              .speeds = std::vector<double>(ranks.size(), 1.0)};
  const auto slow = slowness(ranks, estimated);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const double factor = measure == LoadMeasure::seconds ? slow[r] : 1;
    if (measure == LoadMeasure::speeds) loads.speeds[r] = 1 / slow[r];
    for (const auto& [cell, count] : ranks[r].cells) loads.cells[cell] += factor * count * work[cell];
  }
  return loads;
}

double predicted_imbalance(const LoadTable& loads, const Decomposition& decomposition,
                           std::span<const double> speeds) {
  double largest = 0;
  for (int rank = 0; rank < decomposition.ranks(); ++rank) {
    const Region region = decomposition.region(rank);
    if (region.empty()) continue;
    const double load = loads.load(loads.grid().cells_of(region));
    largest = std::max(largest, load / speeds[static_cast<std::size_t>(rank)]);
  }
  const double speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return largest * speed / loads.load(loads.grid().whole());
}

Balancer::Balancer(mpi::CommView comm, const Vec3& box, double cutoff, const BalanceOptions& options)
    : comm_(comm), grid_(work_grid(box, cutoff, comm.size())), cutoff_(cutoff), options_(options) {}

Decomposition Balancer::plan(const CellCounter& own) const {
  return *share(best_numbers(own, 0, std::numeric_limits<double>::infinity()));
}

std::optional<Decomposition> Balancer::improve(const CellCounter& own, double load) {
  const double mean = mpi::sum(comm_, load) / comm_.size();
  imbalance_ = mean > 0 ? mpi::max(comm_, load) / mean : 1;
  if (imbalance_ <= options_.limit) return {};
  return share(best_numbers(own, load, imbalance_));
}

/// On rank 0 the numbers of a decomposition with less imbalance than this, if there is one.
std::vector<std::int64_t> Balancer::best_numbers(const CellCounter& own, double load,
                                                 double imbalance_now) const {
  Packer packer;
  packer(load, own.counts());
  const auto messages = mpi::gather(comm_, packer.take(), 0);
  if (!comm_.is_root()) return {};
  std::vector<RankCounts> ranks(messages.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Unpacker message(messages[r]);
    message(ranks[r].load, ranks[r].cells);
  }
  const Loads loads = estimate_loads(grid_, cutoff_, ranks, options_.measure);
  const LoadTable table(grid_, loads.cells);
  const auto found =
      Decomposition::kd(grid_, plan_cuts(table, comm_.size(), loads.speeds, options_.kd), comm_.size());
  if (predicted_imbalance(table, found, loads.speeds) >= imbalance_now) return {};
  return found.numbers();
}

std::optional<Decomposition> Balancer::share(std::vector<std::int64_t> numbers) const {
  mpi::broadcast(comm_, numbers, 0);
  if (numbers.empty()) return {};
  return Decomposition::restored(grid_.box, numbers);
}

}  // namespace tailrace::molecules
