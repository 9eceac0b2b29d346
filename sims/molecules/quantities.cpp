// SPDX-License-Identifier: BSD-3-Clause
#include "quantities.hpp"

#include <algorithm>

namespace tailrace::molecules {

static_assert(std::count_if(quantities.begin(), quantities.end(), [](const Quantity& one) {
                return one.kind == Quantity::Kind::observable;
              }) == Observable::count);

std::vector<run::OfferedQuantity> offered_quantities() {
  std::vector<run::OfferedQuantity> offered;
  for (const auto& quantity : quantities) offered.push_back({quantity.name, "reduced"});
  offered.push_back({all_observables, "reduced"});
  return offered;
}

const Quantity* find_quantity(const std::string& name) noexcept {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const Quantity& one) { return name == one.name; });
  return found == quantities.end() ? nullptr : &*found;
}

}  // namespace tailrace::molecules
