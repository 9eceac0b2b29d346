// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "sweeps.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/run/driver.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::poisson {

/// The computation, as `run::drive` wants it: its sweeps run on while it is looked at.
class Solver {
 public:
  /// `problem` and `blocks` outlive the solver; `how` says how they run. @collective{comm}
  Solver(mpi::CommView comm, const Problem& problem, const BlockGrid& blocks, AlignedVector<double> rhs,
         const fragments::Options& how = {});

  /// The state of step 0. @collective{comm}
  void begin();
  /// From the step that it is after on. At a look it is at that step, whatever has been computed since.
  /// @collective{comm}
  void compute_on(const run::Looks& looks);
  /// The step of the next look at the residual. @local
  [[nodiscard]] StepIndex reach(StepIndex step) const noexcept;
  /// Whether a look finds the residual as small as it should be; the same on all ranks. @local
  [[nodiscard]] bool done() const noexcept;
  /// Whether it is so small at this step, at which nobody may look. @local
  [[nodiscard]] bool converged() const noexcept;
  [[nodiscard]] output::FieldView field(const std::string& quantity) const;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// u, for conjugate gradients r and p, by global index. @local
  void state(checkpoint::StateArchive& archive);
  /// @collective{comm}
  void restored(StepIndex step);

  /// Bytes of the arrays of a rank with so many points, and of the blocks of its fragments.
  static double bytes(const Problem& problem, std::int64_t points) noexcept;

  /// The norm of the residual, the root of the mean of its squares, after 0, check_every, 2 check_every ...
  /// sweeps.
  [[nodiscard]] const std::vector<double>& history() const noexcept { return history_; }
  [[nodiscard]] double residual() const noexcept;
  /// The largest difference to the known solution, up to a constant where all sides are periodic.
  /// @collective{comm}
  [[nodiscard]] double error() const;

 private:
  [[nodiscard]] bool looks() const noexcept { return step_ % problem_.check_every == 0; }
  [[nodiscard]] std::vector<StepIndex> steps_of_program(const run::Looks& looks) const;
  void be_at(StepIndex step, Found found);
  [[nodiscard]] AlignedVector<double>& array(const std::string& name) const;
  void assemble(const std::string& name) const;
  void copy(const std::string& name, const Box& part, double* out) const;
  void assemble_state() const;

  mpi::CommView comm_;
  const Problem& problem_;
  const BlockGrid& blocks_;
  mutable State state_;  ///< its arrays are made from what was found when somebody wants them
  mutable Found found_;  ///< at the step, without what is in the arrays
  Sweeps sweeps_;
  StepIndex step_ = 0;
  std::vector<double> history_;
};

}  // namespace tailrace::poisson
