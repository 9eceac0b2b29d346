// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "configuration.hpp"

namespace tailrace::molecules {

/// Returns whether a file is a configuration of MarDyn or ls1 mardyn and no case. @local
bool is_configuration(const std::string& path);

/// Returns what a configuration says, as "key=value" of a case; what has no word there is appended to
/// `warnings`.
/// @local
std::vector<std::string> settings_of(const Configuration& configuration, std::vector<std::string>& warnings);

}  // namespace tailrace::molecules
