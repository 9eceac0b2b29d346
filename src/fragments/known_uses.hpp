// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fragments/code.hpp"

namespace tailrace::fragments {

/// Gives the writers of data fragments whose readers the text of their block names, all of them, a use count:
/// they are released by themselves after the last of these. That is so where a name has no indices, is
/// written once, by a body or as what a `while` came to, is read by fragments of the block that declares it
/// and by none within these, is not passed on as a name, and no recommendation says how long it lives or
/// where copies are. @local
void count_known_uses(Image& image);

}  // namespace tailrace::fragments
