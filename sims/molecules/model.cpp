// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace tailrace::molecules {

double Component::mass() const noexcept {
  double sum = 0;
  for (const auto& site : lennard_jones) sum += site.mass;
  for (const auto& site : charges) sum += site.mass;
  return sum;
}

Vec3 Component::inertia() const noexcept {
  Vec3 sum{};
  const auto add = [&sum](const auto& site) {
    const auto& [x, y, z] = site.place;
    sum = sum + site.mass * Vec3{y * y + z * z, x * x + z * z, x * x + y * y};
  };
  for (const auto& site : lennard_jones) add(site);
  for (const auto& site : charges) add(site);
  for (std::size_t d = 0; d < 3; ++d)
    if (inertia_override[d] > 0) sum[d] = inertia_override[d];
  return sum;
}

bool Component::has_orientation() const noexcept {
  const auto centred = [](const auto& sites) {
    return std::all_of(sites.begin(), sites.end(),
                       [](const auto& site) { return dot(site.place, site.place) == 0; });
  };
  return rotational_freedoms() > 0 || !dipoles.empty() || !quadrupoles.empty() || !centred(lennard_jones) ||
         !centred(charges);
}

int Component::rotational_freedoms() const noexcept {
  int count = 0;
  for (const double moment : inertia())
    if (moment > 0) ++count;
  return count;
}

const Mixing& Model::mixing_of(std::size_t i, std::size_t j) const {
  if (i > j) std::swap(i, j);
  TAILRACE_DCHECK(i < j && j < components.size(), "no pair of different components");
  const std::size_t n = components.size();
  return mixing[i * n - i * (i + 1) / 2 + (j - i - 1)];
}

}  // namespace tailrace::molecules
