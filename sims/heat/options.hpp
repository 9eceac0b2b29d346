// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>

#include "mortars.hpp"
#include "problem.hpp"
#include "tailrace/box.hpp"
#include "tailrace/run/program.hpp"
#include "vtkhdf.hpp"

namespace tailrace::heat {

extern const run::ProgramInfo program_info;

/// All that a user decides about a run.
struct Options : run::CaseOptions {
  Problem problem;
  ExchangeOptions exchange;
  Index3 samples{1, 1, 1};                  ///< points at which outputs sample the field, along x, y, z
  VtkhdfFiles vtkhdf = VtkhdfFiles::steps;  ///< of the first output of the mesh with all points
  VtkhdfCells cells = VtkhdfCells::lagrange;
  bool verbose = false;  ///< a line for each adaptation, and the times of the phases
};

/// Reads the command line, and the case file it names. A rule `own` says who owns which mortar points where
/// the case does not. @local
/// Errors: (usage) a bad command line; (input) a bad case; all problems together.
std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv, NumberRule own = {});

}  // namespace tailrace::heat
