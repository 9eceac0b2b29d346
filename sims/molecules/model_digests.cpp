// SPDX-License-Identifier: BSD-3-Clause
#include "model_digests.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "base/placed_digest.hpp"

namespace tailrace::molecules {

namespace {

/// Numbers in a row, of which a digest is made.
class ModelNumbers {
 public:
  template <class... T>
  void add(const T&... values) {
    (add_one(values), ...);
  }
  [[nodiscard]] std::uint64_t digest() const noexcept { return placed_digest<double>(numbers_); }

 private:
  void add_one(double value) { numbers_.push_back(value); }
  void add_one(const Vec3& value) { numbers_.insert(numbers_.end(), value.begin(), value.end()); }
  std::vector<double> numbers_;
};

std::uint64_t digest_of(const Component& component) {
  ModelNumbers numbers;
  numbers.add(static_cast<double>(component.lennard_jones.size()));
  for (const auto& site : component.lennard_jones)
    numbers.add(site.place, site.mass, site.epsilon, site.sigma, static_cast<double>(site.shifted));
  numbers.add(static_cast<double>(component.charges.size()));
  for (const auto& site : component.charges) numbers.add(site.place, site.mass, site.charge);
  numbers.add(static_cast<double>(component.dipoles.size()));
  for (const auto& site : component.dipoles) numbers.add(site.place, site.direction, site.moment);
  numbers.add(static_cast<double>(component.quadrupoles.size()));
  for (const auto& site : component.quadrupoles) numbers.add(site.place, site.direction, site.moment);
  numbers.add(component.inertia_override);
  return numbers.digest();
}

}  // namespace

checkpoint::InputDigests digests_of(const Model& model) {
  checkpoint::InputDigests digests;
  for (std::size_t i = 0; i < model.components.size(); ++i)
    digests[fmt::format("component {}", i + 1)] = digest_of(model.components[i]);
  ModelNumbers mixing, rules;
  for (const auto& pair : model.mixing) mixing.add(pair.xi, pair.eta);
  rules.add(model.reaction_field_epsilon, static_cast<double>(model.long_range),
            static_cast<double>(model.reference_charge_dipole_sign),
            static_cast<double>(model.reference_shift));
  digests["mixing"] = mixing.digest();
  digests["model"] = rules.digest();
  return digests;
}

}  // namespace tailrace::molecules
