// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/halo.hpp"

namespace tailrace::layout {

/// Points that go to a rank, or come from it, in one message.
struct HaloPart {
  Box block;  ///< in global indices
  int peer = 0;
  int direction = 0;  ///< number of the direction from the box that has the points in its halo; below 32
};

/// What a rank exchanges, and the parts of its box: those that others need, and the rest. Boxes of both are
/// counted from the low corner of the rank's box.
struct HaloPlan {
  std::vector<HaloPart> sends, receives;
  Box interior;
  std::vector<Box> shells;  ///< they do not overlap
};

/// @local
HaloPlan plan_halo(const HaloConfig& config, int rank);

/// The tag of a part of a field's halo.
int halo_tag(int field, const HaloPart& part) noexcept;

}  // namespace tailrace::layout
