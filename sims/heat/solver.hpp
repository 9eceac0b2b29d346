// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "elements.hpp"
#include "forest.hpp"
#include "mortars.hpp"
#include "phases.hpp"
#include "problem.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"

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
  [[nodiscard]] double integral() { return elements_->integral(); }

  [[nodiscard]] const Forest& forest() const noexcept { return forest_; }
  [[nodiscard]] const Mortars& mortars() const noexcept { return mortars_; }
  [[nodiscard]] int order() const noexcept { return problem_.order; }  ///< of the polynomials
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
  /// The field at the points of an element, x fastest. @local
  [[nodiscard]] std::vector<double> values(std::size_t element) const { return elements_->values(element); }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  void take_restored(const Leaf& leaf, std::span<const double> values);
  void check_same_problem(checkpoint::StateArchive& archive, int version) const;
  void pass_adaptations(checkpoint::StateArchive& archive);
  void set_mesh(Forest forest, MeshTrafficCounter traffic = {});
  [[nodiscard]] Adaptation describe_mesh() const;
  void keep_access(StepIndex step);
  [[nodiscard]] Forest make_next_forest();
  Adaptation take_mesh(Forest next);
  void adapt(StepIndex step);

  mpi::CommView comm_;
  const Problem& problem_;
  Forest forest_;
  Mortars mortars_;
  Phases phases_;
  std::unique_ptr<Elements> elements_;
  double time_ = 0, adapted_time_ = 0;
  std::int64_t element_steps_ = 0, element_iterations_ = 0;
  double computed_s_ = 0;
  std::vector<Adaptation> adaptations_;
  std::vector<Access> accesses_;
  MeshTraffic traffic_;              ///< of the last change of the mesh
  std::int64_t restored_count_ = 0;  ///< elements, while a state is restored
};

}  // namespace tailrace::heat
