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
/// lie sorted by x; a table of bins along x finds where a stretch of a row begins. All that a molecule may
/// meet in a row is thus one contiguous run, as long as the sphere of the cutoff is wide there.
class RowGrid {
 public:
  /// First and one past the last molecule.
  struct Run {
    std::int64_t begin, end;
  };

  /// `rows`: how many along y and z; `bin_width`: the least along x.
  RowGrid(const Region& region, std::array<int, 2> rows, double bin_width);

  [[nodiscard]] int rows_y() const noexcept { return rows_[0]; }
  [[nodiscard]] int rows_z() const noexcept { return rows_[1]; }
  [[nodiscard]] const Region& region() const noexcept { return region_; }

  /// Sorts molecules into rows, by x within them and then by y and z: the order follows from their positions
  /// alone. Those outside of the region belong to the rows at its border. `order` is a place to
  /// work in.
  void sort(Columns& columns, std::vector<std::int32_t>& order);

  /// Molecules of a row.
  [[nodiscard]] Run row(int y, int z) const noexcept {
    const std::int64_t first = first_bin(y, z);
    return {starts_[first], starts_[first + bins_]};
  }
  /// Those of a row with x from `low` to `high`, and perhaps some beside.
  [[nodiscard]] Run run(int y, int z, double low, double high) const noexcept {
    const std::int64_t first = first_bin(y, z);
    return {starts_[first + bin(low)], starts_[first + bin(high) + 1]};
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
  [[nodiscard]] std::int64_t first_bin(int y, int z) const noexcept {
    return (static_cast<std::int64_t>(z) * rows_[0] + y) * bins_;
  }
  [[nodiscard]] int bin(double x) const noexcept {
    return static_cast<int>(std::clamp((x - region_.low[0]) * inverse_bin_, 0.0, last_bin_));
  }
  void choose_bins(std::int64_t molecules);
  void find_order(Columns& columns, std::vector<std::int32_t>& order);

  Region region_;
  std::array<int, 2> rows_;
  std::array<double, 2> heights_, inverse_heights_, last_;
  int most_bins_, bins_ = 1;
  double inverse_bin_ = 0, last_bin_ = 0;
  std::vector<std::int32_t>
      starts_;  ///< of each bin, rows one after another, y fastest; then the number of all
};

}  // namespace tailrace::molecules
