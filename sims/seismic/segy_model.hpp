// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "medium.hpp"

namespace tailrace::seismic {

/// The samples of a SEG-Y file as a property of the medium: a trace for each x and y, its samples along z. By
/// the numbers in the trace headers inlines are x and crosslines y, sorted either way; where there are none,
/// y runs faster. Of the traces only those are read whose points are asked for. @local. Errors (input):
/// missing, unreadable or truncated files, other shapes than `cells`, numbers that make no grid.
Parameter open_segy_model(const std::string& path, Index3 cells);

}  // namespace tailrace::seismic
