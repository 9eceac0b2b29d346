// SPDX-License-Identifier: BSD-3-Clause
#include "cell_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "phase_space_formats.hpp"

namespace tailrace::molecules {

namespace {

/// Molecules of a rank in a cell.
struct CellCount {
  std::int64_t cell = 0, count = 0;
};

/// The counts go to the ranks that count their cells.
std::vector<mpi::Packet<CellCount>> packets_of(const std::vector<CellOrder::Cell>& counts, std::int64_t cells,
                                               int ranks) {
  std::vector<mpi::Packet<CellCount>> packets;
  for (const auto& one : counts) {
    const int rank = part_with(one.cell, cells, ranks);
    if (packets.empty() || packets.back().rank != rank) packets.push_back({rank, {}});
    packets.back().values.push_back({one.cell, one.count});
  }
  return packets;
}

}  // namespace

MoleculeList CellPlaces::list_of(const Run& run, const MoleculeList& list) const {
  return {run.count, [this, &run, &list](std::int64_t i) {
            return list.molecule(order[static_cast<std::size_t>(run.first + i)]);
          }};
}

CellPlaces place_in_cells(mpi::CommView comm, const FileGrid& grid, const MoleculeList& list) {
  CellPlaces places;
  auto [order, mine] = sort_by_cell(grid, list);
  places.order = std::move(order);
  const auto part = part_of(grid.count(), comm.rank(), comm.size());
  places.part = {part.begin, part.end};
  auto asked = mpi::deliver(comm, packets_of(mine, grid.count(), comm.size()));

  places.counts.resize(static_cast<std::size_t>(part.end - part.begin));
  const auto count_of = [&](std::int64_t cell) -> std::int64_t& {
    return places.counts[static_cast<std::size_t>(cell - part.begin)];
  };
  for (const auto& packet : asked)
    for (const auto& one : packet.values) count_of(one.cell) += one.count;
  places.rows_before =
      mpi::exclusive_scan(comm, std::accumulate(places.counts.begin(), places.counts.end(), std::int64_t{0}));

  // Within a cell the molecules of the lowest rank come first.
  std::vector<std::int64_t> next(places.counts.size());
  std::exclusive_scan(places.counts.begin(), places.counts.end(), next.begin(), places.rows_before);
  std::vector<mpi::Packet<std::int64_t>> answers;
  for (const auto& packet : asked) {
    answers.push_back({packet.rank, {}});
    for (const auto& one : packet.values) {
      auto& row = next[static_cast<std::size_t>(one.cell - part.begin)];
      answers.back().values.push_back(row);
      row += one.count;
    }
  }

  // Ranks answer in their order, which is that of the cells.
  std::size_t at = 0;
  for (const auto& packet : mpi::deliver(comm, answers))
    for (const auto row : packet.values) {
      const auto& [cell, first, count] = mine[at++];
      auto* const last = places.runs.empty() ? nullptr : &places.runs.back();
      if (last != nullptr && last->row + last->count == row)
        last->count += count;
      else
        places.runs.push_back({.first = first, .count = count, .row = row});
    }
  return places;
}

void check_cells(mpi::CommView comm, const CellPlaces& places, std::int64_t most, const std::string& path) {
  mpi::collectively(comm, [&] {
    for (std::size_t i = 0; i < places.counts.size(); ++i)
      if (places.counts[i] > most)
        throw Error(ErrorInfo{
            .kind = ErrorKind::usage,
            .message = fmt::format("{}: cell {} has {} molecules, more than {}", path,
                                   places.part.begin + static_cast<std::int64_t>(i), places.counts[i], most),
            .path = path,
            .hint = "smaller cells"});
  });
}

}  // namespace tailrace::molecules
