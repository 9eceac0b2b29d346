// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forest.hpp"
#include "kernels.hpp"
#include "mortars.hpp"
#include "phases.hpp"
#include "problem.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::heat {

/// What the computation on elements shares with the solver; all of it outlives the elements.
struct Shared {
  mpi::CommView comm;
  const Problem& problem;
  const Forest& forest;  ///< the mesh
  Mortars& mortars;      ///< of it
  Phases& phases;
  trace::Log& log;
  SumRule sum_rule;
};

/// The field on the elements of this rank, and the parts of a step on one mesh. What polynomials of each
/// order have of their own is in `ElementsOf`.
class Elements {
 public:
  explicit Elements(const Shared& shared);
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  virtual ~Elements() = default;

  /// The mesh is another one: the field on it is zeros. @collective{comm}
  void rebuild();
  /// Messages and spans of time belong to this step from now on. @local
  void mark_step(StepIndex step) noexcept { step_ = step; }
  /// The first part of a step, from this time on: convection and source, and averages at mortar points.
  /// @collective{comm}
  void convect(double time);
  /// The second part: diffusion. Returns the iterations that it took. @collective{comm}. Errors (unstable),
  /// the same on all ranks: the field has left the range of its numbers; they did not converge.
  int diffuse();
  /// The integral of the field. @collective{comm}
  [[nodiscard]] virtual double integral() = 0;

  /// The field at the points of an element, x fastest. @local
  [[nodiscard]] virtual std::vector<double> values(std::size_t element) const = 0;
  virtual void set_values(std::size_t element, std::span<const double> values) noexcept = 0;
  struct Sent {
    std::int64_t left = 0;    ///< elements that left this rank, each as often as it has new owners
    std::int64_t splits = 0;  ///< cubes that were split for this rank's elements of the other mesh
  };
  /// Sends the field to where another mesh needs it. @collective{comm}
  [[nodiscard]] virtual Sent send_to(const Forest& next) = 0;
  /// Has the field that was sent to this mesh. @local
  virtual void receive() = 0;
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept;

 protected:
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

  [[nodiscard]] exchange::Flight begin_gather(std::vector<double>& mortar_values);
  [[nodiscard]] exchange::Flight begin_scatter(std::vector<double>& sums);
  /// Waits, and adds the time that this takes.
  void finish(exchange::Flight& flight, double& seconds);
  /// The sum over this rank's elements of what `lane_sums_` has.
  [[nodiscard]] Sum element_sum() const;
  [[nodiscard]] double reduced(const Sum& sum);

  mpi::CommView comm_;
  const Problem& problem_;
  const Forest& forest_;
  Mortars& mortars_;
  Phases& phases_;
  trace::Log& log_;
  SumRule sum_rule_;
  StepIndex step_ = 0;
  double time_ = 0;  ///< at which the step begins

  /// Batches with elements at the rim; others in two parts, which are computed before and after them.
  std::vector<std::uint32_t> rim_, early_, late_;
  std::vector<Scales> scales_;  ///< of each batch
  AlignedVector<Batch<1>> lane_sums_;
  std::vector<double> contributions_;                    ///< one per position
  std::vector<double> mortar_average_, mortar_inverse_;  ///< factors of owned slots
  std::vector<double> mortar_residual_, mortar_direction_, mortar_product_, mortar_correction_;

 private:
  /// Arrays of the size of the mesh, zeros.
  virtual void remake_fields() = 0;
  /// Sets what the elements of a batch contribute to the number of an average's elements, and to the
  /// diagonal.
  virtual void count_in_averages(std::size_t batch) = 0;
  virtual void add_to_diagonal(std::size_t batch) = 0;
  virtual void convect_batch(std::size_t batch) = 0;
  /// Makes the field continuous; returns the square of the residual that is left for the correction.
  [[nodiscard]] virtual double start_residual() = 0;
  /// The next direction, of which the last one is kept to this part, and the operator applied to it; returns
  /// the product of both: a sum over elements, since the operator on mortar points is made of theirs.
  [[nodiscard]] virtual double apply_to_direction(double keep) = 0;
  /// Follows the direction; returns the square of the residual behind it.
  [[nodiscard]] virtual double follow_direction(double length) = 0;
  virtual void add_correction() = 0;

  void remake_arrays();
  void set_scales();
  void split_batches();
  void make_average_weights();
  void make_diagonal();
  [[nodiscard]] double goal_of(double first) const noexcept;
  void check_residual(double square, double first) const;
};

/// For polynomials of the problem's order. @local
std::unique_ptr<Elements> make_elements(const Shared& shared);

}  // namespace tailrace::heat
