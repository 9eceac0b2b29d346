// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/simd.hpp"
#include "force_field.hpp"
#include "triple.hpp"

/// The rotation of a rigid body over a step: Fincham's explicit quaternion scheme (Mol. Simul. 8 (1992) 165).
namespace tailrace::molecules {

using simd::inverse_sqrt;

/// Orientation and angular momentum, of one body or of one in each lane.
template <class Number>
struct Spin {
  Turn<Number> q;
  Triple<Number> momentum;  ///< in the frame of space
};

template <class Number>
inline Triple<Number> scaled(const Triple<double>& factors, const Triple<Number>& v) noexcept {
  return {factors.x * v.x, factors.y * v.y, factors.z * v.z};
}

/// Angular velocity in the frame of the body.
template <class Number>
inline Triple<Number> angular_velocity(const Turn<Number>& q, const Triple<Number>& momentum,
                                       const Triple<double>& inverse_inertia) noexcept {
  return scaled(inverse_inertia, Rotation<Number>(q).to_body(momentum));
}

/// `start` turned at the rate that angular velocity `w` gives to orientation `at` for a time, at length 1
/// again.
template <class Number>
inline Turn<Number> turned(const Turn<Number>& start, const Turn<Number>& at, const Triple<Number>& w,
                           double time) noexcept {
  const double h = 0.5 * time;
  const Turn<Number> q{start.w - h * (at.x * w.x + at.y * w.y + at.z * w.z),
                       start.x + h * (at.w * w.x - at.z * w.y + at.y * w.z),
                       start.y + h * (at.z * w.x + at.w * w.y - at.x * w.z),
                       start.z + h * (at.x * w.y - at.y * w.x + at.w * w.z)};
  const Number shrink = inverse_sqrt(Number(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z));
  return {shrink * q.w, shrink * q.x, shrink * q.y, shrink * q.z};
}

/// Half a kick of the torque and a whole turn.
template <class Number>
inline Spin<Number> kick_turn(const Spin<Number>& spin, const Triple<Number>& torque,
                              const Triple<double>& inverse_inertia, double dt) noexcept {
  const Turn<Number> half =
      turned(spin.q, spin.q, angular_velocity(spin.q, spin.momentum, inverse_inertia), 0.5 * dt);
  const Triple<Number> momentum = spin.momentum + 0.5 * dt * torque;
  return {turned(spin.q, half, angular_velocity(half, momentum, inverse_inertia), dt), momentum};
}

/// Twice the kinetic energy of rotation.
template <class Number>
inline Number twice_rotational_energy(const Spin<Number>& spin, const CompiledComponent& component) noexcept {
  const Triple<Number> w = angular_velocity(spin.q, spin.momentum, component.inverse_inertia);
  return dot(scaled(component.inertia, w), w);
}

}  // namespace tailrace::molecules
