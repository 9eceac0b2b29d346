#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/save.hpp"
#include "output/core/options.hpp"
#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "tailrace/archive.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"

namespace CLI {
class App;
}

/// Checkpoints in the formats of other programs.
namespace tailrace::run {

/// The format of our checkpoints, whose place is a directory of them.
inline constexpr const char* our_format = "tailrace";

/// A checkpoint that is to be had in another format.
struct Conversion {
  std::string from, to;  ///< where it is and where it goes
  std::string format;    ///< that it gets
};

/// Adds --checkpoint-from, --checkpoint-to and --checkpoint-format to the options of a program whose
/// simulation knows foreign formats, of these names; `words` takes what is typed and outlives the parser.
void add_conversion_options(CLI::App& app, const std::vector<std::string>& formats, Conversion& words);
/// What they ask for, if they are given. @local. Errors (usage): one of them is missing.
std::optional<Conversion> asked_for(const Conversion& words);

/// Checkpoints of another program, as an adapter over the state of a simulation that stands.
struct ForeignFormat {
  std::string name;
  /// Whether a file is one. @local. Errors (input): it cannot be read.
  std::function<bool(const std::string& path)> recognises;
  /// The files of one that is written to this path. @local
  std::function<std::vector<std::string>(const std::string& path)> files;
  /// Fills the state and the running reductions of the plan; returns the step of the run, if there is a run
  /// and the file tells. @collective. Errors (input), on all ranks: what does not fit.
  std::function<std::optional<StepIndex>(const std::string& path, const output::Plan& plan,
                                         const output::KeptReductions& reductions)>
      read;
  /// Writes both, so that the names appear with the last byte. @collective. Errors, on all ranks: what this
  /// format cannot hold, or the system refuses.
  std::function<void(const std::string& path, std::optional<StepIndex> step, const output::Plan& plan,
                     const output::KeptReductions& reductions)>
      write;
};

/// The state that passes from one format to the other.
struct ConvertedState {
  std::string simulation, program;  ///< as a checkpoint names them
  checkpoint::StateFunction simulation_state;
  const output::Plan& plan;
  std::function<double(StepIndex)> time_s;
  output::Options write;
};

/// Takes the state out of one checkpoint, a directory if it is ours, and puts it into another: in ours, or in
/// one of `formats`. Returns a line that says what was done. @collective{comm}, synchronises. Errors, the
/// same on all ranks: (usage) the format is unknown, the target exists, both are ours; (input) the source is
/// not understood or does not fit; (io).
std::string convert_checkpoint(mpi::CommView comm, const Conversion& conversion,
                               const std::vector<ForeignFormat>& formats, const ConvertedState& state,
                               trace::Log& log);

}  // namespace tailrace::run
