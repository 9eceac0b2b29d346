// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>

#include "problem.hpp"
#include "tailrace/fragments/options.hpp"
#include "tailrace/run/program.hpp"

namespace tailrace::poisson {

extern const run::ProgramInfo program_info;

/// The right-hand side as the case gives it: a formula, a dataset, or a number.
struct RhsText {
  std::string formula;        ///< empty: none
  std::string file, dataset;  ///< empty: none
  double value = 0;
};

/// All that a user decides about a run.
struct Options : run::CaseOptions {
  Problem problem;  ///< without the right-hand side
  RhsText rhs;
  fragments::Options fragments;  ///< without the workers
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case; all problems together.
std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv);

/// Fills the options from the case. @local. Errors (input): all problems together.
void apply_case(const run::CaseWords& words, Options& options);

}  // namespace tailrace::poisson
