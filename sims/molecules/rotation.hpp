// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "vec.hpp"

namespace tailrace::molecules {

/// A vector of the body's frame as space has it; with the conjugate quaternion the other way round.
constexpr Vec3 rotated(const Quaternion& q, const Vec3& v) noexcept {
  const Vec3 u{q[1], q[2], q[3]};
  const Vec3 t = 2.0 * cross(u, v);
  return v + q[0] * t + cross(u, t);
}

constexpr Quaternion conjugate(const Quaternion& q) noexcept {
  return {q[0], -q[1], -q[2], -q[3]};
}

/// Sum of I w^2 over the principal axes that have a moment of inertia.
constexpr double twice_rotational_energy(const Quaternion& q, const Vec3& angular_momentum,
                                         const Vec3& inertia) noexcept {
  const Vec3 body = rotated(conjugate(q), angular_momentum);
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d)
    if (inertia[d] > 0) sum += body[d] * body[d] / inertia[d];
  return sum;
}

}  // namespace tailrace::molecules
