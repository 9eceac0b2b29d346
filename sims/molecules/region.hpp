// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "vec.hpp"

namespace tailrace::molecules {

/// A cuboid of space: its low corner is inside, its high one is not.
struct Region {
  Vec3 low{}, high{};

  /// The one test of whom a molecule belongs to, everywhere.
  [[nodiscard]] constexpr bool contains(const Vec3& r) const noexcept {
    return r[0] >= low[0] && r[0] < high[0] && r[1] >= low[1] && r[1] < high[1] && r[2] >= low[2] &&
           r[2] < high[2];
  }
  [[nodiscard]] constexpr Vec3 widths() const noexcept { return high - low; }
  [[nodiscard]] constexpr bool empty() const noexcept {
    return high[0] <= low[0] || high[1] <= low[1] || high[2] <= low[2];
  }

  friend constexpr bool operator==(const Region&, const Region&) = default;
};

}  // namespace tailrace::molecules
