// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "tailrace/box.hpp"

namespace tailrace::run {

/// Describes how large a computation is, for messages.
struct RunSize {
  std::string text;  ///< "case.toml: domain.cells = [120, 96, 80]"
  /// Returns what of it fits where only this share of its memory is there.
  std::function<std::string(double share)> fits;
};

/// The size of a grid, behind its name such as "case.toml: domain.cells". @local
RunSize grid_size(const std::string& name, Index3 points);

}  // namespace tailrace::run
