// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "case.hpp"
#include "choose.hpp"

namespace tailrace::fuzz {

/// A changed input.
struct Mutant {
  Case input;
  std::string story;     ///< says what was changed, for people
  bool harmless = true;  ///< a reader still sees a valid input, the same as before
  bool damaged = false;  ///< bytes of the file were changed or cut off
};

/// Changes a valid input in a random way, and writes it.
Mutant make_mutant(std::uint64_t seed, const std::string& path);

}  // namespace tailrace::fuzz
