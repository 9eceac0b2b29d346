// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kd_tree.hpp"
#include "model.hpp"
#include "tailrace/box.hpp"
#include "tailrace/run/program.hpp"

namespace tailrace::molecules {

extern const run::ProgramInfo program_info;

/// A file with the molecules of the start, in any format that `tailrace checkpoint convert` reads.
struct StartFile {
  std::string path;
  bool keeps_time = true;  ///< the time that the file states is that of step 0, unless the case states it
};

/// Molecules on lattices, which the program makes itself.
struct StartLattice {
  double density = 0;      ///< molecules per volume, of the whole box or of the droplet
  double temperature = 0;  ///< refers to the velocities
  std::int64_t seed = 1;
  std::vector<double> fractions;  ///< refers to the components, in their order; empty: as many of each
  /// A ball of this density; the rest of the box has `vapour_density`.
  struct Droplet {
    Vec3 centre{};
    double radius = 0, vapour_density = 0;
  };
  std::optional<Droplet> droplet;
};

struct ThermostatOptions {
  double temperature = 0;   ///< 0: none
  bool from_start = false;  ///< the start file states the temperature
};

struct DecompositionOptions {
  enum class Kind { regular, kd };
  Kind kind = Kind::regular;
  std::optional<std::array<int, 3>> grid;  ///< refers to ranks, for `regular`
  StepIndex every = 100;                   ///< steps between looks at the balance, for `kd`
  double limit = 1.1;                      ///< largest load over the mean that is left as it is
  KdOptions kd;
  bool measured =
      false;  ///< load from measured times, not from counted pairs: runs do not repeat bit for bit
};

/// A writer of the reference, by the name it has there.
struct WriterOptions {
  std::string key;  ///< "writer[0]", for messages
  std::string name, prefix;
  StepIndex every = 1;
  bool incremental = true;  ///< the step is part of each file's name
};

/// All that a user decides about the computation.
struct Problem {
  Vec3 length{};  ///< refers to the periodic box; 0 until the start file says
  double dt = 0, time_of_step_0 = 0;
  std::optional<double> stated_time;  ///< of step 0, where the case says it
  StepIndex steps = 0;
  std::optional<double> end;  ///< the time after which to end: `steps` follow from it when step 0 has a time
  Model model;
  std::string model_file;  ///< in a format of the reference, with the components; empty: the case has them
  bool field_from_start = true;  ///< the dielectric constant is that of the start file, if it states one
  std::optional<int> cells_per_cutoff;  ///< without a value chosen by how crowded it is
  std::variant<StartFile, StartLattice> start;
  ThermostatOptions thermostat;
  DecompositionOptions decomposition;
};

/// Cells of the cutoff's size along each axis, one at least: those of files. @local
inline std::array<std::int64_t, 3> cells_of_cutoff(const Vec3& box, double cutoff) noexcept {
  std::array<std::int64_t, 3> cells{};
  for (std::size_t d = 0; d < 3; ++d)
    cells[d] = box[d] >= cutoff ? static_cast<std::int64_t>(box[d] / cutoff) : 1;
  return cells;
}

/// An [[output]] table of bins: how many along x, y, z.
using Bins = std::array<std::int64_t, 3>;

/// All that a user decides about a run.
struct Options : run::CaseOptions {
  Problem problem;
  std::vector<Bins> bins;  ///< refers to each output
  std::vector<WriterOptions> writers;
  std::vector<std::string> warnings;  ///< about the input
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case; all problems together.
std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv);

}  // namespace tailrace::molecules
