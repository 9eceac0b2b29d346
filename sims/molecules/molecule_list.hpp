// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "molecule.hpp"

namespace tailrace::molecules {

/// The molecules of a rank, one by one, wherever they are kept.
struct MoleculeList {
  std::int64_t count = 0;
  std::function<Molecule(std::int64_t)> molecule;
};

}  // namespace tailrace::molecules
