// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_grid.hpp"
#include "phase_space.hpp"

namespace tailrace::molecules {

/// Describes where the molecules of all ranks are in a file in which they are sorted by cells. No rank has a
/// table of all cells: each counts those of an equal part of them for all others.
struct CellPlaces {
  /// Molecules of this rank that are one behind the other in the file.
  struct Run {
    std::int64_t first = 0, count = 0;  ///< in `order`
    std::int64_t row = 0;               ///< place of the first one, in molecules
  };
  std::vector<std::int64_t> order;  ///< the numbers of this rank's molecules, by cell
  std::vector<Run> runs;
  CellRange part;                    ///< the cells that this rank counts
  std::vector<std::int64_t> counts;  ///< refers to all molecules in each of those
  std::int64_t rows_before = 0;      ///< molecules in cells before `part`

  /// The molecules of a run, as long as this and `list` live. @local
  [[nodiscard]] MoleculeList list_of(const Run& run, const MoleculeList& list) const;
};

/// Counts. @collective{comm}, synchronises. Cost: 16 bytes to and fro for each cell in which a rank has
/// molecules.
CellPlaces place_in_cells(mpi::CommView comm, const FileGrid& grid, const MoleculeList& list);

/// Refuses cells that the formats cannot count. @collective{comm}. Errors (usage).
void check_cells(mpi::CommView comm, const CellPlaces& places, std::int64_t most, const std::string& path);

}  // namespace tailrace::molecules
