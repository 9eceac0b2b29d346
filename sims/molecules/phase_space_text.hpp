// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "phase_space.hpp"

namespace tailrace::molecules {

/// Describes what a molecule line of the text format has, by the letters of its name.
struct LineFormat {
  const char* name;
  int fields;
  bool has_component, has_rotation;
};

/// The header of a text file, which the formats in cells have beside their molecules.
struct TextHeader {
  PhaseSpaceHeader header;
  LineFormat line{};
  std::int64_t bytes = 0;  ///< refers to the header
};

/// Reads the header at the beginning of a text; all problems with their lines. @local. Errors (input).
TextHeader parse_text_header(std::string_view text, const std::string& path);
/// The text up to the end of the header, of a file on this rank. @local. Errors (input).
std::string read_text_header(const std::string& path);
/// The header as we write it: components with 8 numbers for each Lennard-Jones centre, shortest numbers that
/// read back to the same ones. @local
std::string text_header(const PhaseSpaceState& state, std::int64_t molecules, std::uint64_t state_sum);

}  // namespace tailrace::molecules
