// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "formula.hpp"
#include "load.hpp"
#include "ownership.hpp"
#include "particle_formula.hpp"
#include "selection.hpp"
#include "tailrace/run/program.hpp"

namespace tailrace::rehearse {

extern const run::ProgramInfo program_info;

/// All that a user decides about a rehearsal.
struct Options : run::CaseOptions {
  bool verify = false;      ///< compare the file with the formula after the run
  std::string verify_only;  ///< a file to be compared, and nothing else is done; usually empty
  Formula formula;
  Ownership ownership;
  LoadOptions load;
  ParticleOptions particle_formula;
  std::vector<Selection> selections;
  SelectionContext
      selection_context;  ///< refers to the selections; the number of ranks is the program's to fill in
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case; all problems together.
std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv);

}  // namespace tailrace::rehearse
