// SPDX-License-Identifier: BSD-3-Clause
#include "linked_cells.hpp"

#include <cmath>
#include <tuple>

namespace tailrace::molecules {

LinkedCells::LinkedCells(const Region& region, std::array<int, 2> rows, double bin_width)
    : region_(region),
      rows_(rows),
      max_bins_(std::max(1, static_cast<std::int32_t>(region.widths()[0] / bin_width))) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    heights_[axis] = region.widths()[axis + 1] / rows[axis];
    inverse_heights_[axis] = 1 / heights_[axis];
    last_[axis] = rows[axis] - 1;
  }
  choose_bins({});
}

/// `row_of`: the number of each molecule's row. Not more bins than molecules and rows: in thin gas they would
/// take more memory than these; and in a crowd they are short wherever it is.
void LinkedCells::choose_bins(std::span<const double> row_of) {
  const std::size_t rows = number_of(0, rows_[1]);
  bins_.assign(rows, {});
  for (const double row : row_of) ++bins_[static_cast<std::size_t>(row)].others;
  std::int32_t first = 0, end = 0;
  for (Bins& bins : bins_) {
    const std::int32_t count = std::clamp(bins.others, 1, max_bins_);
    end += bins.others;
    bins = {count / region_.widths()[0], first, count - 1, end};
    first += count;
  }
  starts_.assign(static_cast<std::size_t>(first) + 1, 0);
}

void LinkedCells::find_order(Columns& columns, std::vector<std::int32_t>& order) {
  const std::int64_t count = columns.size();
  const double *const x = columns.position[0].data(), *const y = columns.position[1].data(),
                      *const z = columns.position[2].data();
  double* const place = columns.scratch().data();
  if (order.capacity() < static_cast<std::size_t>(count))
    order.reserve(static_cast<std::size_t>(count + count / 64));
  order.resize(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    place[i] = static_cast<double>(number_of(row_of(0, y[i]), row_of(1, z[i])));
  choose_bins(std::span(place, static_cast<std::size_t>(count)));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    place[i] = static_cast<double>(bin(bins_[static_cast<std::size_t>(place[i])], x[i]));
  for (std::int64_t i = 0; i < count; ++i) ++starts_[static_cast<std::size_t>(place[i]) + 1];
  for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
  // Fills each bin one after the other; the beginning of a bin ends up where the next one begins.
  for (std::int64_t i = 0; i < count; ++i)
    order[starts_[static_cast<std::size_t>(place[i])]++] = static_cast<std::int32_t>(i);
  for (std::size_t b = starts_.size() - 1; b > 0; --b) starts_[b] = starts_[b - 1];
  starts_[0] = 0;
}

void LinkedCells::sort(Columns& columns, std::vector<std::int32_t>& order) {
  find_order(columns, order);
  const auto& position = columns.position;
  const auto before = [&position](std::int32_t a, std::int32_t b) {
    return std::tie(position[0][a], position[1][a], position[2][a]) <
           std::tie(position[0][b], position[1][b], position[2][b]);
  };
  // A bin holds one or two molecules, in most steps in order already.
  const auto bins = static_cast<std::int64_t>(starts_.size()) - 1;
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < bins; ++b)
    for (std::int64_t k = starts_[b] + 1; k < starts_[b + 1]; ++k) {
      const std::int32_t moving = order[k];
      std::int64_t to = k;
      for (; to > starts_[b] && before(moving, order[to - 1]); --to) order[to] = order[to - 1];
      order[to] = moving;
    }
  columns.reorder(order);
  columns.pad();
}

std::int64_t LinkedCells::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(starts_.capacity() * sizeof(std::int32_t) +
                                   bins_.capacity() * sizeof(Bins));
}

}  // namespace tailrace::molecules
