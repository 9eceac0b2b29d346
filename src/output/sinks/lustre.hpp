// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Makes an empty file of these stripes, by the program `lfs` of Lustre, which has to be found in the PATH.
/// What else has the name must not be there. @local. Errors (usage): there is no such program, or
/// it refuses, with its own words: another file system, more stripes than there are targets.
void create_on_lustre(const std::string& path, const LustreStripes& stripes);

}  // namespace tailrace::output
