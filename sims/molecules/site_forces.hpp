// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <vector>

#include "force_field.hpp"
#include "potentials.hpp"

/// Describes what one molecule and another, or as many others as a vector has lanes, do to each other through
/// their sites. The same text serves plain numbers, as the reference, and vectors.
namespace tailrace::molecules {

/// Sites of one molecule, or of several of one component in the lanes, turned into space; relative to the
/// centre of mass.
template <class Number>
struct TurnedSites {
  std::vector<Triple<Number>> places, directions;

  void set(const CompiledComponent& component, const Turn<Number>& orientation) {
    const Rotation<Number> rotation(orientation);
    places.resize(component.places.size());
    directions.resize(component.directions.size());
    for (std::size_t s = 0; s < places.size(); ++s) places[s] = rotation.to_space(component.places[s]);
    for (std::size_t s = 0; s < directions.size(); ++s)
      directions[s] = rotation.to_space(component.directions[s]);
  }
};

template <class Number>
struct Energies {
  Number u6_lj{}, u_el{}, u_rf{};
};

template <class Number>
struct ForceAndTorque {
  Triple<Number> force, torque;
};

/// All pairs of sites of molecule a with those of the molecules b in the lanes.
///
/// @local
/// Adds forces on the sites of a to `site_forces_a` (one per site) and direct torques to `torque_a`; returns
/// force and torque on b. `between`: centre of a - centre of b. `weight`: 1 for lanes that count and 0 for
/// others, whose numbers must be those of a pair at some distance nevertheless; `weight_lj` likewise for
/// Lennard-Jones centres.
template <class Number>
class SitePairs {
 public:
  SitePairs(const ForceField& field, std::size_t component_a, std::size_t component_b) noexcept
      : a_(field.components()[component_a]),
        b_(field.components()[component_b]),
        centres_(field.centre_pairs(component_a, component_b)),
        charge_dipole_sign_(field.charge_dipole_sign()),
        reaction_field_(field.reaction_field()) {}

  ForceAndTorque<Number> act(const TurnedSites<double>& sites_a, const TurnedSites<Number>& sites_b,
                             const Triple<Number>& between, const Number& weight, const Number& weight_lj,
                             std::span<Triple<Number>> site_forces_a, Triple<Number>& torque_a,
                             Energies<Number>& energies) {
    const Call call{sites_a, sites_b, between, site_forces_a, torque_a, energies};
    ForceAndTorque<Number> on_b;
    for (int b = 0; b < b_.centres; ++b) apply(call, b, centre(call, b, weight_lj), on_b);
    for (int b = 0; b < b_.charges; ++b) multipole<Multipole::charge>(call, b, weight, on_b);
    for (int b = 0; b < b_.dipoles; ++b) multipole<Multipole::dipole>(call, b, weight, on_b);
    for (int b = 0; b < b_.quadrupoles; ++b) multipole<Multipole::quadrupole>(call, b, weight, on_b);
    return on_b;
  }

 private:
  struct Call {
    const TurnedSites<double>& sites_a;
    const TurnedSites<Number>& sites_b;
    const Triple<Number>& between;
    std::span<Triple<Number>> site_forces_a;
    Triple<Number>& torque_a;
    Energies<Number>& energies;
  };

  /// Describes where the sites of one kind are among all sites, among the directed ones, and among those with
  /// a strength.
  struct Place {
    int first, directed, strong, count;
  };
  static Place place_of(const CompiledComponent& c, Multipole kind) noexcept {
    switch (kind) {
      case Multipole::charge:
        return {c.centres, 0, 0, c.charges};
      case Multipole::dipole:
        return {c.centres + c.charges, 0, c.charges, c.dipoles};
      default:
        return {c.centres + c.charges + c.dipoles, c.dipoles, c.charges + c.dipoles, c.quadrupoles};
    }
  }

  /// Subtracts the force on site b, which is what the sites of a got from it.
  static void apply(const Call& call, int site_b, const Triple<Number>& force,
                    ForceAndTorque<Number>& on_b) noexcept {
    on_b.force -= force;
    on_b.torque -= cross(call.sites_b.places[site_b], force);
  }

  /// Force on all centres of a from centre b.
  Triple<Number> centre(const Call& call, int b, const Number& weight) const noexcept {
    Triple<Number> total;
    const Triple<Number> from = call.between - call.sites_b.places[b];
    for (int a = 0; a < a_.centres; ++a) {
      const Triple<Number> between = from + call.sites_a.places[a];
      const auto action = lennard_jones(centres_[a * b_.centres + b], dot(between, between));
      call.energies.u6_lj += weight * action.u6;
      const Triple<Number> force = (weight * action.factor) * between;
      call.site_forces_a[a] += force;
      total += force;
    }
    return total;
  }

  template <Multipole kind_b>
  void multipole(const Call& call, int b, const Number& weight, ForceAndTorque<Number>& on_b) const noexcept {
    const Place at = place_of(b_, kind_b);
    const Number strength = weight * b_.strengths[at.strong + b];
    const int site_b = at.first + b, directed_b = at.directed + b;
    Triple<Number> total = with<Multipole::charge, kind_b>(call, site_b, directed_b, strength, on_b);
    total += with<Multipole::dipole, kind_b>(call, site_b, directed_b, strength, on_b);
    total += with<Multipole::quadrupole, kind_b>(call, site_b, directed_b, strength, on_b);
    apply(call, site_b, total, on_b);
  }

  /// Force on all sites of a of one kind from site b. The potentials are written for the lower kind first.
  template <Multipole kind_a, Multipole kind_b>
  Triple<Number> with(const Call& call, int site_b, int directed_b, const Number& strength_b,
                      ForceAndTorque<Number>& on_b) const noexcept {
    Triple<Number> total;
    const Place at = place_of(a_, kind_a);
    const Triple<Number> from = call.between - call.sites_b.places[site_b];
    const Triple<Number> e_b =
        kind_b == Multipole::charge ? Triple<Number>{} : call.sites_b.directions[directed_b];
    for (int a = 0; a < at.count; ++a) {
      Number strength = a_.strengths[at.strong + a] * strength_b;
      if constexpr ((kind_a == Multipole::charge) != (kind_b == Multipole::charge) &&
                    (kind_a == Multipole::dipole || kind_b == Multipole::dipole))
        strength = charge_dipole_sign_ * strength;
      const Triple<double> e_a =
          kind_a == Multipole::charge ? Triple<double>{} : call.sites_a.directions[at.directed + a];
      const Triple<Number> between = from + call.sites_a.places[at.first + a];
      Interaction<Number> pair;
      if constexpr (kind_a <= kind_b) {
        pair = interact<kind_a, kind_b>(strength, between, e_a, e_b);
      } else {
        const auto turned = interact<kind_b, kind_a>(strength, -1.0 * between, e_b, spread<Number>(e_a));
        pair = {turned.u, -1.0 * turned.force, turned.torque_b, turned.torque_a};
      }
      if constexpr (kind_a == Multipole::dipole && kind_b == Multipole::dipole)
        add_reaction_field(call, strength, e_a, e_b, pair);
      call.energies.u_el += pair.u;
      call.site_forces_a[at.first + a] += pair.force;
      call.torque_a += pair.torque_a;
      on_b.torque += pair.torque_b;
      total += pair.force;
    }
    return total;
  }

  void add_reaction_field(const Call& call, const Number& strength, const Triple<double>& e_a,
                          const Triple<Number>& e_b, Interaction<Number>& pair) const noexcept {
    const Number scale = reaction_field_ * strength;
    call.energies.u_rf -= scale * dot(e_a, e_b);
    const Triple<Number> twist = scale * cross(e_a, e_b);
    pair.torque_a += twist;
    pair.torque_b -= twist;
  }

  const CompiledComponent& a_;
  const CompiledComponent& b_;
  const LennardJonesPair* centres_;
  double charge_dipole_sign_, reaction_field_;
};

}  // namespace tailrace::molecules
