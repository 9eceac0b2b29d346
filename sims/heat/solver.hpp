// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/system.hpp"
#include "batch_mortars.hpp"
#include "forest.hpp"
#include "kernels.hpp"
#include "mortars.hpp"
#include "problem.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"
#include "transfer.hpp"

namespace tailrace::heat {

/// What one adaptation did, over all ranks.
struct Adaptation {
  StepIndex step = 0;
  std::int64_t splits = 0;                         ///< cubes that were split
  std::int64_t merged = 0;                         ///< elements that were merged, eight to one
  std::int64_t elements = 0;                       ///< afterwards
  std::int64_t mortars = 0;                        ///< mortar points afterwards
  std::int64_t max_elements = 0, max_mortars = 0;  ///< on one rank; of mortar points, those that it owns
  MeshTraffic traffic{};
};

/// Seconds of this rank; of exchanges, those that no computation hides.
struct Phases {
  double convection_s = 0, diffusion_s = 0, adaptation_s = 0, gather_s = 0, scatter_s = 0, reduction_s = 0;
  /// Parts of the adaptation: the new tree, values to the elements of it, mortar points and their numbers,
  /// the map of the exchanges, memory and lists of batches, and weights and the diagonal.
  double tree_s = 0, transfer_s = 0, numbering_s = 0, map_s = 0, fields_s = 0, diagonal_s = 0;
};

/// Adds the seconds of its life to a phase.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds) noexcept : seconds_(seconds) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() { seconds_ += monotonic_s() - start_s_; }

 private:
  double& seconds_;
  double start_s_ = monotonic_s();
};

/// Which mortar points elements accessed after a step, as `Mortars::access_pattern` has it.
struct Access {
  StepIndex step = 0;
  std::vector<std::int64_t> counts;
};

/// The computation: the field on the elements of this rank, step after step, and the mesh that follows the
/// ball. All results are the same bits on any number of ranks and threads.
class Solver {
 public:
  /// `problem` and `log` outlive the solver, which has no mesh yet. @local
  Solver(mpi::CommView comm, const Problem& problem, const ExchangeOptions& exchange, trace::Log& log);

  /// Makes the mesh of the start, with a field of zeros. @collective{comm}
  void begin();
  /// Sets the field of this rank's elements, which `begin` has set to zeros, to `value(place)`. @local
  void set_field(const std::function<double(const Vec3&)>& value);
  /// A time step, and after it the mesh of its end if that is due. @collective{comm}. Errors (unstable), the
  /// same on all ranks: the field has left the range of its numbers; conjugate gradients have not converged.
  void advance(StepIndex step);
  /// Saves or restores all that the future depends on; on restoring, makes the mesh that the field is on.
  /// @collective{comm}. Errors (input), on all ranks: the state is one of another problem.
  void state(checkpoint::StateArchive& archive);
  /// Has the field of a state that was restored. @collective{comm}. Errors (input), on all ranks: elements of
  /// its mesh were missing.
  void restored(StepIndex step);
  /// The integral of the field. @collective{comm}
  [[nodiscard]] double integral();

  [[nodiscard]] const Forest& forest() const noexcept { return forest_; }
  [[nodiscard]] const Mortars& mortars() const noexcept { return mortars_; }
  [[nodiscard]] double time() const noexcept { return time_; }
  /// The elements of all ranks, summed up over the steps taken.
  [[nodiscard]] std::int64_t element_steps() const noexcept { return element_steps_; }
  /// The same, each step as often as it had iterations of conjugate gradients.
  [[nodiscard]] std::int64_t element_iterations() const noexcept { return element_iterations_; }
  [[nodiscard]] const std::vector<Adaptation>& adaptations() const noexcept { return adaptations_; }
  /// At the start and after about a third, two thirds and all of the steps, as far as this run took them.
  [[nodiscard]] const std::vector<Access>& accesses() const noexcept { return accesses_; }
  /// Seconds of computing, of earlier runs of the computation too; those of the slowest rank.
  [[nodiscard]] double computed_s() const noexcept { return computed_s_; }
  [[nodiscard]] const Phases& phases() const noexcept { return phases_; }
  /// The field at the points of an element. @local
  [[nodiscard]] ElementValues values(std::size_t element) const noexcept;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::size_t elements() const noexcept { return forest_.leaves.size(); }
  [[nodiscard]] std::size_t batches() const noexcept { return batches_of(elements()); }
  /// Calls `body(batch)` for all batches, or some, on several threads.
  template <class Body>
  void for_each_batch(Body body);
  template <class Body>
  void for_each_batch(std::span<const std::uint32_t> some, Body body);
  /// The same while values are under way, which are there afterwards.
  template <class Body>
  void overlap(const std::vector<std::uint32_t>& some, exchange::Flight flight, double& seconds, Body body);
  /// Brings mortar values to the elements, calls `body(batch)` for all batches, and sums up into `sums` what
  /// they contribute: elements inside of this rank are computed while values are under way.
  template <class Body>
  void exchange_around(std::vector<double>& mortar_values, std::vector<double>& sums, Body body);
  /// Calls `body(element, lane)` for the elements of a batch.
  template <class Body>
  void for_each_lane(std::size_t batch, Body body) const;

  void take_restored(const Leaf& leaf, const ElementValues& values);
  void check_same_problem(checkpoint::StateArchive& archive, int version) const;
  void pass_adaptations(checkpoint::StateArchive& archive);
  void set_mesh(Forest forest, MeshTrafficCounter traffic = {});
  void set_fields();
  [[nodiscard]] Adaptation describe_mesh() const;
  void keep_access(StepIndex step);
  [[nodiscard]] Forest make_next_forest();
  Adaptation take_mesh(Forest next);
  void set_scales();
  void split_batches();
  void make_average_weights();
  void make_diagonal();
  void set_values(std::size_t element, const ElementValues& values) noexcept;

  void convect_all();
  void convect_batch(std::size_t batch);
  [[nodiscard]] bool fill_source(std::size_t batch, const Ball& ball, Whole& source) const;
  void clear_boundary(std::size_t batch, Whole& change) const;
  void start_residual();
  /// Returns the iterations that it took.
  int diffuse();
  [[nodiscard]] double goal_of(double first) const noexcept;
  void check_residual(double square, double first) const;
  [[nodiscard]] double apply_to_direction(double keep);
  [[nodiscard]] double follow_direction(double length);
  void add_correction();
  void adapt(StepIndex step);

  [[nodiscard]] exchange::Flight begin_gather(std::vector<double>& mortar_values);
  [[nodiscard]] exchange::Flight begin_scatter(std::vector<double>& sums);
  /// Waits, and adds the time that this takes.
  void finish(exchange::Flight& flight, double& seconds);
  /// The sum over this rank's elements of what `lane_sums_` has.
  [[nodiscard]] Sum element_sum() const;
  [[nodiscard]] double reduced(const Sum& sum);

  mpi::CommView comm_;
  const Problem& problem_;
  trace::Log& log_;
  SumRule sum_rule_;
  Forest forest_;
  Mortars mortars_;
  BatchMortars batch_mortars_;
  double time_ = 0, adapted_time_ = 0;
  StepIndex step_ = 0;
  std::int64_t element_steps_ = 0, element_iterations_ = 0;
  double computed_s_ = 0;
  std::vector<Adaptation> adaptations_;
  std::vector<Access> accesses_;
  Phases phases_;
  MeshTraffic traffic_;  ///< of the last change of the mesh

  std::vector<ElementValues> restored_;  ///< while a state is restored
  std::int64_t restored_count_ = 0;

  /// Batches with elements at the rim; others in two parts, which are computed before and after them.
  std::vector<std::uint32_t> rim_, early_, late_;
  std::vector<Scales> scales_;  ///< of each batch
  WholeField field_, residual_;
  InnerField inverse_, inner_residual_, direction_, product_, correction_;
  AlignedVector<Batch<1>> lane_sums_;
  std::vector<double> contributions_;                    ///< one per position
  std::vector<double> mortar_average_, mortar_inverse_;  ///< factors of owned slots
  std::vector<double> mortar_residual_, mortar_direction_, mortar_product_, mortar_correction_;
};

}  // namespace tailrace::heat
