// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "phase_space.hpp"
#include "simulation.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/run/conversion.hpp"

namespace tailrace::molecules {

/// Names of the formats of files, in their order.
std::vector<std::string> format_names();

/// The state of all molecules on its way from one checkpoint into another, shared among any number of ranks:
/// what `run::convert_checkpoint` wants of a simulation.
class StateInTransit {
 public:
  enum class Into { file, run };
  /// Of files alone, which say all that there is to know.
  explicit StateInTransit(mpi::CommView comm) : comm_(comm) {}
  /// Of a run: its case, complete, and a simulation without molecules. Both outlive this. What goes from file
  /// to file does not pass through the simulation, which knows no orientation of what cannot turn.
  StateInTransit(mpi::CommView comm, const Problem& problem, Simulation& simulation, Into into)
      : comm_(comm),
        problem_(&problem),
        simulation_(&simulation),
        into_(into),
        box_(problem.length),
        model_(problem.model),
        temperature_(problem.thermostat.temperature) {}

  /// The formats of files, over this state. Memory while one is converted: the molecules of a rank. Errors of
  /// reading (input): as `PhaseSpace`; no box is known, or another one than the case has. Of writing
  /// (input): the components are not known, where the format states them.
  [[nodiscard]] std::vector<run::ForeignFormat> formats();
  /// As `Simulation::state`. Errors (usage): there is no case.
  void state(checkpoint::StateArchive& archive);

 private:
  std::optional<StepIndex> read(const std::string& path);
  void write(const PhaseSpaceFiles& files, std::optional<StepIndex> step) const;
  void finalize(const std::string& path, const PhaseSpaceHeader& header);
  [[nodiscard]] Decomposition decomposition() const;
  [[nodiscard]] MoleculeList list() const;
  [[nodiscard]] std::optional<StepIndex> step_at(double time) const;

  mpi::CommView comm_;
  const Problem* problem_ = nullptr;
  Simulation* simulation_ = nullptr;
  Into into_ = Into::file;
  bool restored_ = false;  ///< the simulation has the molecules
  Vec3 box_{};
  Model model_;
  double temperature_ = 0;
  std::optional<double> time_;       ///< that a file reported
  std::vector<Molecule> molecules_;  ///< refers to a file
};

}  // namespace tailrace::molecules
