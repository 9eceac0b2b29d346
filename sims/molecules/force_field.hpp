// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "model.hpp"
#include "potentials.hpp"

namespace tailrace::molecules {

/// A component as the kernels want it: its sites one after another by kind, centres first.
struct CompiledComponent {
  double mass = 0;
  Triple<double> inertia, inverse_inertia;  ///< the inverse of 0 counts as 0
  int rotational_freedoms = 0;

  int centres = 0, charges = 0, dipoles = 0, quadrupoles = 0;
  std::vector<Triple<double>> places;      ///< refers to all sites
  std::vector<Triple<double>> directions;  ///< refers to dipoles, then quadrupoles
  std::vector<double> strengths;           ///< refers to charges, dipoles, quadrupoles

  explicit CompiledComponent(const Component& component);
};

/// A model with everything that follows from it worked out: what kernels, corrections and integrator read.
/// A plain value.
class ForceField {
 public:
  /// Errors (input): a number of mixing rules that does not fit the components, a cutoff that is not
  /// positive, an LJ cutoff beyond it, a component without mass, directions that are not of length 1.
  explicit ForceField(const Model& model);

  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] const std::vector<CompiledComponent>& components() const noexcept { return components_; }
  /// The pairs of centres of component i with those of j, row by row.
  [[nodiscard]] const LennardJonesPair* centre_pairs(std::size_t i, std::size_t j) const noexcept {
    return centre_pairs_[i * components_.size() + j].data();
  }
  /// 2 (eps - 1) / (rc^3 (2 eps + 1)).
  [[nodiscard]] double reaction_field() const noexcept { return reaction_field_; }
  /// 1, or -1 where the sign of ls1 mardyn is asked for.
  [[nodiscard]] double charge_dipole_sign() const noexcept {
    return model_.reference_charge_dipole_sign ? -1 : 1;
  }
  /// Returns whether forces depend on orientations or orientations change: otherwise molecules have none.
  [[nodiscard]] bool rotates() const noexcept { return rotates_; }
  /// Returns whether there is one component, of one Lennard-Jones centre at its origin and nothing else.
  [[nodiscard]] bool one_centre() const noexcept { return one_centre_; }

 private:
  Model model_;
  std::vector<CompiledComponent> components_;
  std::vector<std::vector<LennardJonesPair>> centre_pairs_;
  double reaction_field_ = 0;
  bool rotates_ = false, one_centre_ = false;
};

}  // namespace tailrace::molecules
