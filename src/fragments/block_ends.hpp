// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fragments/code.hpp"

namespace tailrace::fragments {

/// Finds the data fragments that go when the block that declares them is over, as no fragment knows their
/// names then: those that nothing else releases, of all blocks but that of `main`, at whose end the program
/// is over. After `count_known_uses`. @local
void find_block_ends(Image& image);

}  // namespace tailrace::fragments
