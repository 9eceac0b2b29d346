// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "tailrace/run/simulate.hpp"

namespace tailrace::poisson {

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  run::CaseWords words;
  Options options;
  if (auto notice = run::read_case_words(program_info, words, argc, argv, options)) return std::move(*notice);
  apply_case(words, options);
  return options;
}

}  // namespace tailrace::poisson
