#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formula.hpp"
#include "load.hpp"
#include "ownership.hpp"
#include "selection.hpp"
#include "swarm.hpp"
#include "tailrace/output/options.hpp"
#include "tailrace/run/case_output.hpp"
#include "tailrace/run/checkpointing.hpp"
#include "tailrace/trace/recorder.hpp"

namespace tailrace::rehearse {

/// All that a user decides about a rehearsal.
struct Options {
  std::string output;         ///< file; empty only with `check_only`
  std::string case_file;      ///< absolute; empty if there is none
  std::string command;        ///< as typed
  std::string run_directory;  ///< where run.json, progress and traces go; empty: nowhere
  bool overwrite = false;     ///< an existing run directory may be used
  bool check_only = false;    ///< read and check everything, write nothing
  bool quiet = false;
  bool verify = false;  ///< compare the file with the formula after the run
  std::optional<double> wall_limit_s;
  bool resume = false;                 ///< go on from the newest checkpoint in the run directory
  std::vector<std::string> arguments;  ///< as typed, behind the name of the program
  run::CheckpointOptions checkpoint;
  int threads = 1;
  std::string title;
  Formula formula;
  StepIndex steps = 0;
  Ownership ownership;
  LoadOptions load;
  SwarmOptions swarm;
  std::vector<Selection> selections;
  SelectionContext selection_context;  ///< of the selections; the number of ranks is the program's to fill in
  std::vector<run::OutputTable> outputs;  ///< the [[output]] tables of the case
  output::Options write;
  trace::Mode trace = trace::Mode::on;
  nlohmann::json resolved;  ///< the case with all defaults, for run.json
};

/// A file to be compared with the formula, and nothing else.
struct VerifyRequest {
  std::string path;
};

/// A request that ends the program at once: help or version.
struct Notice {
  std::string text;
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case; all problems together.
std::variant<Options, VerifyRequest, Notice> parse_options(int argc, const char* const* argv);

}  // namespace tailrace::rehearse
