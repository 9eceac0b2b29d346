// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model.hpp"
#include "phase_space.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

/// A run as a configuration of MarDyn (old style) or ls1 mardyn (XML) describes it. What a file leaves out
/// has no value.
struct Configuration {
  /// An output plug-in by its name there, such as "ResultWriter".
  struct Output {
    std::string name;
    std::int64_t every = 1;  ///< steps
    std::string prefix;      ///< refers to its files; "default" represents the program's own
    std::map<std::string, std::string> options;  ///< by the names of the XML elements
  };
  enum class Division { regular, kd };
  /// Describes how the ranks share the box.
  struct Parallelisation {
    Division division = Division::regular;
    std::optional<std::array<int, 3>> grid;  ///< ranks along x, y, z
    std::optional<std::int64_t> every;       ///< steps from one balancing to the next
    std::optional<int> full_search_ranks;    ///< up to so many ranks all cuts are tried
    std::optional<int> min_cells;            ///< refers to a rank along each axis
    std::optional<double> imbalance;         ///< over which the ranks balance before that
    std::optional<bool> split_longest;       ///< only the longest side of a part is cut
  };

  std::string path;
  /// Components may be missing: then the phase-space file has them. So may cutoffs only after a problem.
  Model model;
  bool states_field = false;  ///< the dielectric constant is stated; otherwise the phase-space file may do so
  std::optional<Vec3> box;
  double dt = 0;
  std::optional<std::int64_t> steps;
  std::optional<double> time;  ///< refers to the start; a binary phase-space file has its own
  /// Target of the thermostat; 0: none. Without a value that of the phase-space file holds.
  std::optional<double> temperature;
  std::optional<PhaseSpaceFiles> start;
  bool ignore_start_time = false;  ///< the time in the phase-space file does not count
  Parallelisation parallelisation;
  std::optional<int> cells_per_cutoff;  ///< without a value as the program likes
  std::vector<Output> outputs;
  std::vector<std::string> warnings;  ///< says what is there and has no effect, with its line
};

/// Reads a configuration: XML if it begins with <, old style otherwise. File names in it are relative to its
/// directory. @local. Errors (input): all problems together, with their lines.
Configuration read_configuration(const std::string& path);

// By format.
Configuration read_old_configuration(const std::string& text, const std::string& path);
Configuration read_xml_configuration(const std::string& text, const std::string& path);

/// Notes what cannot be together: lengths and steps that are not positive, a Lennard-Jones cutoff beyond the
/// cutoff, cutoffs longer than half the box. @local
void check_configuration(const Configuration& configuration, Problems& problems);
/// A name in a configuration, from its directory on. @local
std::string beside(const std::string& path, const std::string& name);

}  // namespace tailrace::molecules
