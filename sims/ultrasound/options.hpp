// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "output/registry/options.hpp"
#include "sensor_data.hpp"
#include "tailrace/run/program.hpp"

namespace tailrace::ultrasound {

extern const run::ProgramInfo program_info;

/// Of the fields and of the arithmetic. Datasets in k-Wave's output files are 32-bit floats either way.
enum class Precision { float32, float64 };
const char* to_string(Precision precision) noexcept;

/// When a run ends to be resumed later, by k-Wave's options: after so much wall-clock time or so many
/// steps, whichever comes first. At least one of the two is given.
struct Checkpointing {
  std::string file;
  std::optional<double> interval_s;
  std::optional<StepIndex> timesteps;
};

/// All that a user decides about a run.
struct Options : run::CaseOptions {
  bool case_mode = false;  ///< started with --case: Tailrace's exit codes and run directory
  std::string input;       ///< file
  int verbosity = 0;
  int progress_percent = 5;
  Precision precision = Precision::float32;
  std::optional<Checkpointing> kwave_checkpoint;
  SensorData sensor_data;
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case file.
std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv);

/// The text of --version.
std::string version_text();

}  // namespace tailrace::ultrasound
