// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "medium.hpp"

namespace tailrace::seismic {

/// Describes what the header of an RSF file (Madagascar) says.
struct RsfHeader {
  std::map<std::string, std::string> values;  ///< by key, without quotation marks; of several the last
  std::int64_t bytes = 0;                     ///< refers to the text; values in the same file follow it
};

/// Finds the keys in the text of a header, which may be followed by values. @local
RsfHeader parse_rsf_header(const std::string& text);

/// The values of an RSF file as a property of the medium: x along its first axis, then y and z. Of the values
/// only those are read that are asked for. @local. Errors (input): missing, unreadable or truncated files,
/// bytes that are left over, other shapes than `cells` or distances than `spacing_m`, where the header states
/// any, elements that are no floats.
Parameter open_rsf_model(const std::string& path, Index3 cells, const std::array<double, 3>& spacing_m);

}  // namespace tailrace::seismic
