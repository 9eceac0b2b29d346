// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "vec.hpp"

namespace tailrace::molecules {

/// A rigid molecule: the state from which its future follows, in reduced units. Forces are not part of it:
/// they follow from the positions and orientations of all.
struct Molecule {
  Vec3 position{};  ///< refers to the centre of mass, 0 <= r < length of the box
  Vec3 velocity{};  ///< refers to the centre of mass, at the full step
  Quaternion orientation{1, 0, 0,
                         0};   ///< from the frame of the body to that of space, unit length: w, x, y, z
  Vec3 angular_momentum{};     ///< in the frame of space
  std::uint64_t id = 0;        ///< refers to all molecules, one has it
  std::int32_t component = 0;  ///< its kind, counted from 0

  friend bool operator==(const Molecule&, const Molecule&) = default;
};

}  // namespace tailrace::molecules
