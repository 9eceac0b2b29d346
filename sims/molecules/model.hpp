// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vec.hpp"

/// Describes what molecules are made of, and how they act on each other; reduced units with k_B = 1, 4 pi
/// eps_0 = 1.
namespace tailrace::molecules {

/// A Lennard-Jones 12-6 centre.
struct LennardJones {
  Vec3 place{};  ///< in the frame of the body: its origin is the centre of mass, its axes the principal ones
  double mass = 0, epsilon = 0, sigma = 0;
  bool shifted = false;  ///< truncated and shifted: zero at the cutoff
  friend bool operator==(const LennardJones&, const LennardJones&) = default;
};

struct Charge {
  Vec3 place{};
  double mass = 0, charge = 0;
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct Dipole {
  Vec3 place{}, direction{0, 0, 1};  ///< from - to +, unit length
  double moment = 0;
  friend bool operator==(const Dipole&, const Dipole&) = default;
};

/// Linear, axial.
struct Quadrupole {
  Vec3 place{}, direction{0, 0, 1};
  double moment = 0;
  friend bool operator==(const Quadrupole&, const Quadrupole&) = default;
};

/// A kind of molecule: sites in a rigid frame of the body, whose axes are the principal axes.
struct Component {
  std::string name;
  std::vector<LennardJones> lennard_jones;
  std::vector<Charge> charges;
  std::vector<Dipole> dipoles;
  std::vector<Quadrupole> quadrupoles;
  Vec3 inertia_override{};  ///< principal moments; where positive, instead of those of the sites

  /// Sum of the masses of the sites.
  [[nodiscard]] double mass() const noexcept;
  /// Principal moments of inertia, with the override.
  [[nodiscard]] Vec3 inertia() const noexcept;
  /// Returns whether it matters how it is turned.
  [[nodiscard]] bool has_orientation() const noexcept;
  /// Number of principal moments that are not zero: 0, 2 or 3.
  [[nodiscard]] int rotational_freedoms() const noexcept;

  friend bool operator==(const Component&, const Component&) = default;
};

/// Modified Lorentz-Berthelot rule of two different components i < j:
/// sigma = eta (sigma_i + sigma_j) / 2, epsilon = xi sqrt(epsilon_i epsilon_j).
struct Mixing {
  double xi = 1, eta = 1;
  friend bool operator==(const Mixing&, const Mixing&) = default;
};

enum class LongRange { homogeneous, none };

/// The whole force field.
struct Model {
  std::vector<Component> components;
  std::vector<Mixing> mixing;  ///< refers to the pairs i < j, row by row: (0,1), (0,2), ..., (1,2), ...
  double cutoff = 0;           ///< between centres of mass
  double lj_cutoff = 0;        ///< at most the cutoff
  double reaction_field_epsilon = 1e10;
  LongRange long_range = LongRange::homogeneous;
  /// The sign of charge-dipole pairs as ls1 mardyn has it, opposite to physics; for comparisons.
  bool reference_charge_dipole_sign = false;
  /// The shift of a pair of different centres of one component as ls1 mardyn has it: that of the first centre
  /// alone; for comparisons.
  bool reference_shift = false;

  [[nodiscard]] const Mixing& mixing_of(std::size_t i, std::size_t j) const;
  friend bool operator==(const Model&, const Model&) = default;
};

}  // namespace tailrace::molecules
