// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/option_parser.hpp"

namespace tailrace::output {
class KeptReductions;
struct Plan;
}  // namespace tailrace::output

/// Checkpoints in the formats of other programs.
namespace tailrace::run {

/// The format of our checkpoints, whose place is a directory of them.
inline constexpr const char* our_format = "tailrace";

/// A checkpoint that is to be had in another format.
struct Conversion {
  std::string from, to;  ///< says where it is and where it goes
  std::string format;    ///< that it gets
};

/// Adds --checkpoint-from, --checkpoint-to and --checkpoint-format to the options of a program whose
/// simulation knows foreign formats, of these names; `words` takes what is typed and outlives the parser.
void add_conversion_options(OptionParser& parser, const std::vector<std::string>& formats, Conversion& words);
/// Returns what they ask for, if they are given. @local. Errors (usage): one of them is missing.
std::optional<Conversion> asked_for(const Conversion& words);

/// Checkpoints of another program, as an adapter over the state of a simulation that is.
struct ForeignFormat {
  std::string name;
  /// Returns whether a file is one. @local. Errors (input): it cannot be read.
  std::function<bool(const std::string& path)> recognises;
  /// The files of one that is written to this path. @local
  std::function<std::vector<std::string>(const std::string& path)> files;
  /// Fills the state and the running reductions of the plan; returns the step of the run, if there is a run
  /// and the file says so. @collective. Errors (input), on all ranks: what does not fit.
  std::function<std::optional<StepIndex>(const std::string& path, const output::Plan& plan,
                                         const output::KeptReductions& reductions)>
      read;
  /// Writes both, so that the names appear with the last byte. @collective. Errors, on all ranks: what this
  /// format cannot hold, or the system refuses.
  std::function<void(const std::string& path, std::optional<StepIndex> step, const output::Plan& plan,
                     const output::KeptReductions& reductions)>
      write;
};

}  // namespace tailrace::run
