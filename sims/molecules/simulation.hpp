// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balancer.hpp"
#include "exchange.hpp"
#include "long_range.hpp"
#include "observables.hpp"
#include "options.hpp"
#include "particles.hpp"
#include "quantities.hpp"
#include "running_means.hpp"
#include "samples.hpp"
#include "step_writer.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::molecules {

/// The computation, as `run::drive` wants it: molecules of all ranks, step after step.
class Simulation {
 public:
  /// `problem` and `log` outlive the simulation, which has no molecules yet. @collective{comm}
  Simulation(mpi::CommView comm, const Problem& problem, trace::Log& log);

  /// Returns where this rank's molecules of the start are to be. @local
  [[nodiscard]] const Decomposition& decomposition() const noexcept { return exchange_.decomposition(); }
  /// Takes in the molecules of the start, which lie in this rank's region, and balances the ranks.
  /// @collective{comm}, synchronises. Errors (input), on all ranks: a molecule that is none, an id twice.
  void place(const std::vector<Molecule>& molecules);
  /// The molecules in the order of their ids; after `place`.
  [[nodiscard]] const IdOrder& order() const noexcept { return *order_; }
  /// The molecules of this rank.
  [[nodiscard]] MoleculeList list() const;
  /// Number of molecules of this rank.
  [[nodiscard]] std::int64_t own_molecules() const noexcept { return particles_->size(); }

  /// Finds out what is to be gathered in each step, for outputs and by writers. @local
  void set_outputs(std::unique_ptr<Samples> samples, std::vector<std::unique_ptr<StepWriter>> writers);
  /// Computes what belongs to step 0, and gathers it. @collective{comm}
  void begin();
  /// @collective{comm}. Errors, on all ranks, with the step and the molecule: (unstable) one that moves by
  /// more than the cutoff in a step, has numbers or a force that are not finite, or is lost.
  void advance(StepIndex step);
  /// Gathers what outputs of the last state take, in a run that ended early. @collective{comm}
  void gather_last();
  [[nodiscard]] output::FieldView field(const std::string& quantity) const {
    return samples_->field(quantity);
  }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

  /// Saves or restores everything but forces, which follow from it. @local but for what the archive does
  void state(checkpoint::StateArchive& archive);
  /// @collective{comm}. Errors (input), on all ranks: the state is of other molecules than those of the
  /// start.
  void restored(StepIndex step);

  /// Of the last step.
  [[nodiscard]] const ObservableValues& values() const noexcept { return values_; }

 private:
  [[nodiscard]] Vec3 box() const noexcept { return problem_.length; }
  [[nodiscard]] double volume() const noexcept { return box()[0] * box()[1] * box()[2]; }
  template <class Action>
  void attempt(const Action& action) noexcept;
  void make_particles();
  void balance();
  void choose_cells();
  std::optional<Decomposition> better_decomposition(StepIndex step);
  [[nodiscard]] CellCounter count_cells() const;
  void move(StepIndex step);
  void get_copies(StepIndex step);
  void compute_forces(Totals& mine);
  void add_up(StepIndex step, Totals mine);
  void measure(bool counts);
  void finish_step(StepIndex step, bool scales);
  void check_same_molecules();
  void check_same_case(checkpoint::StateArchive& archive) const;
  void pass_decomposition(checkpoint::StateArchive& archive, int version);

  mpi::CommView comm_;
  const Problem& problem_;
  trace::Log& log_;
  Exchange exchange_;
  std::optional<Balancer> balancer_;
  std::optional<Particles> particles_;
  std::optional<IdOrder> order_;
  std::unique_ptr<Samples> samples_;
  std::vector<std::unique_ptr<StepWriter>> writers_;
  std::optional<ErrorInfo> failure_;  ///< refers to this rank, until all know of it
  Corrections corrections_;
  Totals totals_;              ///< refers to all ranks
  bool keeps_regions_ = true;  ///< a restored state was one of as many ranks with regions of this kind
  int cells_per_cutoff_;
  std::int64_t own_pairs_ = 0;  ///< counted work of this rank in the last step
  double own_force_s_ = 0;      ///< time of this rank for forces since the last look at the balance
  Scaling scaling_;
  RunningMeans means_;
  ObservableValues values_{};
};

}  // namespace tailrace::molecules
