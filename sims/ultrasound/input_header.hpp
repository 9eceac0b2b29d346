// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "bad_values.hpp"
#include "h5/file.hpp"
#include "input.hpp"
#include "input_sources.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

/// A dataset with one value per grid point, or a single one for a homogeneous medium.
struct GridDataset {
  const char* name;
  const char* meaning;
  bool may_be_scalar;
  Accepted accepted;
};

/// In the order of `InputHeader::readable`.
inline constexpr std::array<GridDataset, 8> grid_datasets{
    {{"c0", "sound speed", true, Accepted::positive},
     {"rho0", "density", true, Accepted::positive},
     {"rho0_sgx", "density at x velocity points", true, Accepted::positive},
     {"rho0_sgy", "density at y velocity points", true, Accepted::positive},
     {"rho0_sgz", "density at z velocity points", true, Accepted::positive},
     {"BonA", "non-linearity", true, Accepted::any},
     {"alpha_coeff", "absorption", true, Accepted::not_negative},
     {"p0_source_input", "initial pressure", false, Accepted::any}}};

/// The small parts of an input file.
struct HeaderAndLists {
  InputHeader header;
  std::string description;
  SensorMask mask;
  SourceLists sources;
};

/// Reads everything but the grid-sized datasets and the source signals. Problems go to the list; what could
/// not be read keeps its default. @local
HeaderAndLists read_header(const h5::File& file, const InputNeeds& needs, Problems& problems);

}  // namespace tailrace::ultrasound
