// SPDX-License-Identifier: BSD-3-Clause
#include "force_field.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tailrace/error.hpp"

namespace tailrace::molecules {

namespace {

constexpr Triple<double> inverse(const Triple<double>& v) {
  const auto one = [](double value) { return value > 0 ? 1 / value : 0.0; };
  return {one(v.x), one(v.y), one(v.z)};
}

/// Parameters of two centres, `like` when they are of the same component.
LennardJonesPair pair_of(const Model& model, const LennardJones& a, const LennardJones& b,
                         const Mixing& mixing, bool like) {
  const double epsilon = mixing.xi * std::sqrt(a.epsilon * b.epsilon);
  const double sigma = mixing.eta * 0.5 * (a.sigma + b.sigma);
  LennardJonesPair pair{24 * epsilon, sigma * sigma, 0};
  const auto shift6 = [&model](double epsilon24, double sigma2) {
    const double s6 = std::pow(sigma2 / (model.lj_cutoff * model.lj_cutoff), 3);
    return epsilon24 * (s6 - s6 * s6);
  };
  if (!like)
    pair.shift6 = shift6(pair.epsilon24, pair.sigma2);  // unlike pairs always are, whatever the flags say
  else if (model.reference_shift)
    pair.shift6 = a.shifted ? shift6(24 * a.epsilon, a.sigma * a.sigma) : 0;
  else if (a.shifted || b.shifted)
    pair.shift6 = shift6(pair.epsilon24, pair.sigma2);
  return pair;
}

void check(const Model& model) {
  Problems problems("the force field");
  const std::size_t n = model.components.size();
  if (n == 0) problems.add("there is no component");
  if (model.mixing.size() != n * (n > 0 ? n - 1 : 0) / 2)
    problems.add(fmt::format("{} components need {} mixing rules, not {}", n, n * (n > 0 ? n - 1 : 0) / 2,
                             model.mixing.size()));
  if (!(model.cutoff > 0)) problems.add(fmt::format("the cutoff is {}, it must be positive", model.cutoff));
  if (!(model.lj_cutoff > 0 && model.lj_cutoff <= model.cutoff))
    problems.add(fmt::format("the LJ cutoff is {}, it must be positive and at most the cutoff {}",
                             model.lj_cutoff, model.cutoff));
  for (std::size_t i = 0; i < n; ++i) {
    const Component& component = model.components[i];
    if (!(component.mass() > 0)) problems.add(fmt::format("component {} has no mass", i + 1));
    const auto check_direction = [&](const auto& site) {
      if (!(std::abs(dot(site.direction, site.direction) - 1) < 1e-6))
        problems.add(
            fmt::format("component {} has a dipole or quadrupole whose direction is not of length 1", i + 1));
    };
    for (const auto& site : component.dipoles) check_direction(site);
    for (const auto& site : component.quadrupoles) check_direction(site);
  }
  problems.throw_if_any();
}

}  // namespace

CompiledComponent::CompiledComponent(const Component& component)
    : mass(component.mass()),
      inertia(triple(component.inertia())),
      inverse_inertia(inverse(inertia)),
      rotational_freedoms(component.rotational_freedoms()),
      centres(static_cast<int>(component.lennard_jones.size())),
      charges(static_cast<int>(component.charges.size())),
      dipoles(static_cast<int>(component.dipoles.size())),
      quadrupoles(static_cast<int>(component.quadrupoles.size())) {
  for (const auto& site : component.lennard_jones) places.push_back(triple(site.place));
  for (const auto& site : component.charges) {
    places.push_back(triple(site.place));
    strengths.push_back(site.charge);
  }
  const auto add_directed = [this](const auto& site) {
    places.push_back(triple(site.place));
    directions.push_back(triple(site.direction));
    strengths.push_back(site.moment);
  };
  for (const auto& site : component.dipoles) add_directed(site);
  for (const auto& site : component.quadrupoles) add_directed(site);
}

ForceField::ForceField(const Model& model) : model_(model) {
  check(model);
  const std::size_t n = model.components.size();
  for (const auto& component : model.components) components_.emplace_back(component);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      auto& pairs = centre_pairs_.emplace_back();
      const Mixing mixing = i == j ? Mixing{} : model.mixing_of(i, j);
      for (const auto& a : model.components[i].lennard_jones)
        for (const auto& b : model.components[j].lennard_jones)
          pairs.push_back(pair_of(model, a, b, mixing, i == j));
    }
  const double rc = model.cutoff, eps = model.reaction_field_epsilon;
  reaction_field_ = 2 * (eps - 1) / (rc * rc * rc * (2 * eps + 1));
  one_centre_ = n == 1;
  for (const auto& component : components_) {
    bool centred = component.directions.empty();
    for (const auto& place : component.places) centred = centred && dot(place, place) == 0;
    rotates_ = rotates_ || !centred || component.rotational_freedoms > 0;
    one_centre_ = one_centre_ && centred && component.centres == 1 && component.places.size() == 1;
  }
  one_centre_ = one_centre_ && !rotates_;
}

}  // namespace tailrace::molecules
