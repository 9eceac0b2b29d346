// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "columns.hpp"
#include "region.hpp"

namespace tailrace::molecules {

/// Linked cells of a kind made for vectors: space is cut along y and z into rows, in each of which molecules
/// lie sorted by x; bins along x, of which a row has the more the more molecules it has, say where an extent
/// of it begins. All that a molecule may meet in a row is thus one contiguous run, as long as the sphere of
/// the cutoff is wide there.
class LinkedCells {
 public:
  /// First and one past the last molecule, and one past the last of the row.
  struct Run {
    std::int64_t begin, end, row_end;
  };

  /// `rows`: how many along y and z; `bin_width`: the least along x.
  LinkedCells(const Region& region, std::array<int, 2> rows, double bin_width);

  [[nodiscard]] int rows_y() const noexcept { return rows_[0]; }
  [[nodiscard]] int rows_z() const noexcept { return rows_[1]; }
  [[nodiscard]] const Region& region() const noexcept { return region_; }

  /// Sorts molecules into rows, by x within them and then by y and z: the order follows from their positions
  /// alone. Those outside of the region belong to the rows at its border. `order` is a place to
  /// work in.
  void sort(Columns& columns, std::vector<std::int32_t>& order);

  /// Molecules of a row.
  [[nodiscard]] Run row(int y, int z) const noexcept {
    const std::size_t k = number_of(y, z);
    return {starts_[bins_[k].first], bins_[k].end, bins_[k].end};
  }
  /// Those of a row with x from `low` to `high`, and perhaps some beside.
  [[nodiscard]] Run run(int y, int z, double low, double high) const noexcept {
    const Bins& bins = bins_[number_of(y, z)];
    return {starts_[bin(bins, low)], starts_[bin(bins, high) + 1], bins.end};
  }
  /// Low end of row number k of an axis (0: y, 1: z).
  [[nodiscard]] double low_of(int axis, int k) const noexcept {
    return region_.low[axis + 1] + k * heights_[axis];
  }
  /// Number of the row in which a coordinate lies.
  [[nodiscard]] int row_of(int axis, double value) const noexcept {
    return static_cast<int>(
        std::clamp((value - region_.low[axis + 1]) * inverse_heights_[axis], 0.0, last_[axis]));
  }

  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  /// Of a row: as many as it has molecules, but no finer than `bin_width`.
  struct Bins {
    double per_length = 0;
    std::int32_t first = 0, others = 0;  ///< number of the first one, and how many follow
    std::int32_t end = 0;                ///< one past the last molecule
  };
  [[nodiscard]] std::size_t number_of(int y, int z) const noexcept {
    return static_cast<std::size_t>(z) * rows_[0] + y;
  }
  [[nodiscard]] std::size_t bin(const Bins& bins, double x) const noexcept {
    // No position or end of a reach is so far outside that a number of bins would not fit.
    const auto place = static_cast<std::int32_t>((x - region_.low[0]) * bins.per_length);
    return static_cast<std::size_t>(bins.first + std::clamp(place, 0, bins.others));
  }
  void choose_bins(std::span<const double> row_of);
  void find_order(Columns& columns, std::vector<std::int32_t>& order);

  Region region_;
  std::array<int, 2> rows_;
  std::array<double, 2> heights_, inverse_heights_, last_;
  std::int32_t max_bins_;
  std::vector<Bins> bins_;            ///< refers to each row, y fastest
  std::vector<std::int32_t> starts_;  ///< refers to the molecules of each bin; then the number of all
};

}  // namespace tailrace::molecules
