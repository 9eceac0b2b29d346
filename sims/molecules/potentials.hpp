// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/simd.hpp"
#include "triple.hpp"

/// Energies of two sites, their forces and torques. `between` points from site b to site a, r is its length;
/// c_a and c_b are the cosines of it with the directions of the sites, g is that of the directions with each
/// other.
namespace tailrace::molecules {

using simd::inverse_sqrt;

enum class Multipole { charge, dipole, quadrupole };

/// Energy u(r, c_a, c_b, g) and its derivatives.
template <class Number>
struct Derivatives {
  Number u{}, by_r{}, by_a{}, by_b{}, by_g{};
};

/// Of two multipoles whose product of charges or moments is `strength`, a not of higher order than b. A
/// dipole points from its negative to its positive end.
template <Multipole a, Multipole b, class Number>
inline Derivatives<Number> multipoles(const Number& strength, const Number& inverse_r, const Number& c_a,
                                      const Number& c_b, const Number& g) noexcept {
  using enum Multipole;
  const Number square = inverse_r * inverse_r;
  Derivatives<Number> d;
  if constexpr (b == charge) {
    d.u = strength * inverse_r;
    d.by_r = -d.u * inverse_r;
  } else if constexpr (a == charge && b == dipole) {
    d.by_b = strength * square;
    d.u = d.by_b * c_b;
    d.by_r = -2.0 * d.u * inverse_r;
  } else if constexpr (a == charge && b == quadrupole) {
    const Number scale = 0.5 * strength * square * inverse_r;
    d.u = scale * (3.0 * c_b * c_b - 1.0);
    d.by_r = -3.0 * d.u * inverse_r;
    d.by_b = 6.0 * scale * c_b;
  } else if constexpr (a == dipole && b == dipole) {
    d.by_g = strength * square * inverse_r;
    d.u = d.by_g * (g - 3.0 * c_a * c_b);
    d.by_r = -3.0 * d.u * inverse_r;
    d.by_a = -3.0 * d.by_g * c_b;
    d.by_b = -3.0 * d.by_g * c_a;
  } else if constexpr (a == dipole && b == quadrupole) {
    const Number scale = 1.5 * strength * square * square;
    d.u = scale * (2.0 * g * c_b - c_a * (5.0 * c_b * c_b - 1.0));
    d.by_r = -4.0 * d.u * inverse_r;
    d.by_a = scale * (1.0 - 5.0 * c_b * c_b);
    d.by_b = scale * (2.0 * g - 10.0 * c_a * c_b);
    d.by_g = 2.0 * scale * c_b;
  } else {
    const Number scale = 0.75 * strength * square * square * inverse_r, skew = g - 5.0 * c_a * c_b;
    d.u = scale * (1.0 - 5.0 * (c_a * c_a + c_b * c_b) - 15.0 * c_a * c_a * c_b * c_b + 2.0 * skew * skew);
    d.by_r = -5.0 * d.u * inverse_r;
    d.by_a = scale * (-10.0 * c_a - 30.0 * c_a * c_b * c_b - 20.0 * c_b * skew);
    d.by_b = scale * (-10.0 * c_b - 30.0 * c_a * c_a * c_b - 20.0 * c_a * skew);
    d.by_g = 4.0 * scale * skew;
  }
  return d;
}

/// Describes what two sites do to each other; the force on b is the opposite.
template <class Number>
struct Interaction {
  Number u{};
  Triple<Number> force, torque_a, torque_b;
};

/// Of two multipoles; a charge has no direction, what is given for it does not count.
template <Multipole a, Multipole b, class Number, class DirectionA>
inline Interaction<Number> interact(const Number& strength, const Triple<Number>& between,
                                    const Triple<DirectionA>& e_a, const Triple<Number>& e_b) noexcept {
  const Number inverse_r = inverse_sqrt(dot(between, between));
  const Triple<Number> along = inverse_r * between;
  Number c_a{}, c_b{}, g{};
  if constexpr (a != Multipole::charge) c_a = dot(e_a, along), g = dot(e_a, e_b);
  if constexpr (b != Multipole::charge) c_b = dot(e_b, along);
  const auto d = multipoles<a, b>(strength, inverse_r, c_a, c_b, g);
  Interaction<Number> result;
  result.u = d.u;
  if constexpr (b == Multipole::charge) {
    result.force = -d.by_r * along;
  } else {
    const Number sideways_b = d.by_b * inverse_r;
    result.force = ((c_a * d.by_a + c_b * d.by_b) * inverse_r - d.by_r) * along - sideways_b * e_b;
    result.torque_b = -d.by_b * cross(e_b, along);
    if constexpr (a != Multipole::charge) {
      const Triple<Number> twist = d.by_g * cross(e_a, e_b);
      result.force -= (d.by_a * inverse_r) * e_a;
      result.torque_a = -d.by_a * cross(e_a, along) - twist;
      result.torque_b += twist;
    }
  }
  return result;
}

/// Two Lennard-Jones centres: 24 epsilon, sigma squared, and -6 u at the cutoff where the pair is shifted.
struct LennardJonesPair {
  double epsilon24 = 0, sigma2 = 0, shift6 = 0;
};

/// Six times the energy, and the factor of `between` that gives the force on a.
template <class Number>
struct LennardJonesAction {
  Number u6, factor;
};

template <class Number>
inline LennardJonesAction<Number> lennard_jones(const LennardJonesPair& pair, const Number& r2) noexcept {
  const Number inverse = 1.0 / r2, s2 = pair.sigma2 * inverse, s6 = s2 * s2 * s2, difference = s6 * s6 - s6;
  return {pair.epsilon24 * difference + pair.shift6, pair.epsilon24 * (s6 * s6 + difference) * inverse};
}

}  // namespace tailrace::molecules
