// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tailrace::molecules {

namespace {

/// Says what a molecule costs beside its pairs: a third of the step of argon at density 0.84, which has 55
/// pairs.
constexpr double work_of_molecule = 20;

/// Adds to each cell those along an axis within `reach` (in cells), the outermost ones in part.
void spread(const CellGrid& grid, std::size_t axis, double reach, std::vector<double>& values) {
  const std::int64_t n = grid.cells[axis], whole = static_cast<std::int64_t>(std::ceil(reach)) - 1;
  const double part = reach - static_cast<double>(whole);
  const std::int64_t stride = axis == 0 ? 1 : axis == 1 ? grid.cells[0] : grid.cells[0] * grid.cells[1];
  std::vector<double> line(static_cast<std::size_t>(n));
  const auto at = [&](std::int64_t i) { return line[static_cast<std::size_t>(((i % n) + n) % n)]; };
  for (std::int64_t start = 0; start < grid.volume(); ++start) {
    if (start / stride % n != 0) continue;
    auto* first = values.data() + start;
    for (std::int64_t i = 0; i < n; ++i) line[static_cast<std::size_t>(i)] = first[i * stride];
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = part * (at(i - whole - 1) + at(i + whole + 1));
      for (std::int64_t j = i - whole; j <= i + whole; ++j) sum += at(j);
      first[i * stride] = sum;
    }
  }
}

}  // namespace

CellGrid work_grid(const Vec3& box, double cutoff, int ranks) {
  const double max_cells = std::max(std::ldexp(1.0, 18), 64.0 * ranks);
  const double edge = std::max(cutoff / 2, std::cbrt(box[0] * box[1] * box[2] / max_cells));
  CellGrid grid{.box = box, .cells = {}};
  for (std::size_t d = 0; d < 3; ++d)
    grid.cells[d] = std::max<std::int64_t>(1, static_cast<std::int64_t>(box[d] / edge));
  return grid;
}

CellCounter::CellCounter(const CellGrid& grid, const Region& own)
    : grid_(grid), cells_(grid.cells_of(own)), counts_(static_cast<std::size_t>(cells_.volume())) {}

std::vector<CellCounter::Count> CellCounter::counts() const {
  std::vector<Count> list;
  Cell3 cell;
  for (cell[2] = cells_.low[2]; cell[2] < cells_.high[2]; ++cell[2])
    for (cell[1] = cells_.low[1]; cell[1] < cells_.high[1]; ++cell[1])
      for (cell[0] = cells_.low[0]; cell[0] < cells_.high[0]; ++cell[0])
        if (const auto count = counts_[own_index(cell)]; count > 0)
          list.push_back({static_cast<std::uint32_t>(grid_.index(cell)), count});
  return list;
}

std::vector<double> work_per_molecule(const CellGrid& grid, std::span<const std::int64_t> molecules,
                                      double cutoff) {
  std::vector<double> work(molecules.begin(), molecules.end());
  // The sum covers edge + 2 cutoff along each axis; the sphere of the cutoff lies in a cube of 2 cutoff.
  double within = std::numbers::pi / 6;
  for (std::size_t d = 0; d < 3; ++d) {
    const double edge = grid.box[d] / static_cast<double>(grid.cells[d]);
    spread(grid, d, cutoff / edge, work);
    within *= 2 * cutoff / (edge + 2 * cutoff);
  }
  for (double& value : work) value = within * value + work_of_molecule;
  return work;
}

}  // namespace tailrace::molecules
