#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "output/core/options.hpp"
#include "record.hpp"
#include "tailrace/run/case_output.hpp"
#include "tailrace/run/checkpointing.hpp"
#include "tailrace/run/conversion.hpp"
#include "trace/recorder.hpp"

namespace tailrace::ultrasound {

/// Of the fields and of the arithmetic. Datasets in k-Wave's output files are 32-bit floats either way.
enum class Precision { float32, float64 };
const char* to_string(Precision precision) noexcept;

/// When a run ends to be gone on with later, by k-Wave's options: after so much wall-clock time or so many
/// steps, whichever comes first. At least one of the two is given.
struct Checkpointing {
  std::string file;
  std::optional<double> interval_s;
  std::optional<StepIndex> timesteps;
};

/// All that a user decides about a run.
struct Options {
  bool case_mode = false;     ///< started with --case: Tailrace's exit codes and run directory
  std::string input, output;  ///< files
  std::string case_file;      ///< of case mode
  std::string command;        ///< as typed
  std::string run_directory;  ///< where run.json, progress and traces go; empty: nowhere
  bool overwrite = false;     ///< an existing run directory may be used
  bool check_only = false;    ///< read and check everything, write nothing
  bool quiet = false;
  std::string title;
  int threads = 1;
  int verbosity = 0;
  int progress_percent = 5;
  std::optional<StepIndex> steps;  ///< instead of the input's Nt
  std::optional<double> wall_limit_s;
  bool resume = false;                 ///< go on from the newest checkpoint in the run directory
  std::vector<std::string> arguments;  ///< as typed, behind the name of the program
  run::CheckpointOptions checkpoints;  ///< of ours, in the run directory
  Precision precision = Precision::float32;
  std::optional<Checkpointing> checkpoint;
  std::optional<run::Conversion> conversion;  ///< of a checkpoint, instead of a run
  bool gpu_named = false;                     ///< "-g N" was given, which the CPU has no use for
  Record record;
  std::vector<run::OutputTable> outputs;  ///< the [[output]] tables of a case
  ::tailrace::trace::Mode trace = ::tailrace::trace::Mode::on;
  ::tailrace::output::Options write;
  nlohmann::json resolved;  ///< the case with all defaults, for run.json

  /// Whether a run takes place, and files of it come into being.
  [[nodiscard]] bool runs() const noexcept { return !check_only && !conversion; }
};

/// A request that ends the program at once: help or version.
struct Notice {
  std::string text;
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case file.
std::variant<Options, Notice> parse_options(int argc, const char* const* argv);

/// The text of --help.
std::string help_text();
/// The text of --version.
std::string version_text();

}  // namespace tailrace::ultrasound
