// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tailrace/option_parser.hpp"

namespace tailrace::ultrasound {

/// Writes a command line out in full by the rules of getopt_long, which k-Wave's binaries follow: a long name
/// may be shortened as long as only one option begins so, and a name that is written out goes before longer
/// ones. Its value may be behind "=" or be the next argument, whatever that looks like; everything behind
/// "--" is left alone. Unknown options stay as they are. @local
/// Errors (usage): an ambiguous prefix with its candidates, a value for an option without one, a missing
/// value.
std::vector<std::string> resolve_arguments(const std::vector<std::string>& arguments,
                                           const std::vector<OptionForm>& options);

}  // namespace tailrace::ultrasound
