// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mesh_rows.hpp"
#include "samples.hpp"
#include "solver.hpp"

namespace tailrace::heat {

/// The computation with what its outputs sample, as `run::drive` wants it.
class Simulation {
 public:
  /// `problem` and `log` outlive the simulation. @collective{comm}
  Simulation(mpi::CommView comm, const Problem& problem, const ExchangeOptions& exchange, Samples samples,
             MeshRows mesh_rows, trace::Log& log)
      : problem_(problem),
        solver_(comm, problem, exchange, log),
        samples_(std::move(samples)),
        mesh_rows_(std::move(mesh_rows)) {}

  /// The state of step 0, and its samples. @collective{comm}
  void begin() {
    solver_.begin();
    samples_.take(0, solver_, ball());
  }
  /// @collective{comm}. Errors (unstable), the same on all ranks: the field has left the range of its
  /// numbers.
  void advance(StepIndex step) {
    solver_.advance(step);
    samples_.take(step, solver_, ball());
  }
  /// Samples for outputs of the last state. @collective{comm}
  void sample_last() { samples_.take_last(solver_, ball()); }
  [[nodiscard]] output::FieldView field(const std::string& quantity) const {
    return samples_.field(quantity);
  }
  /// The mesh after the last step, as an output takes it. @local
  [[nodiscard]] output::RowsView rows(const std::string& quantity) {
    return mesh_rows_.rows(quantity, solver_);
  }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept {
    return solver_.memory_bytes() + samples_.memory_bytes() +
           mesh_rows_.memory_bytes(solver_.forest().leaves.size());
  }
  void state(checkpoint::StateArchive& archive) { solver_.state(archive); }
  void restored(StepIndex step) { solver_.restored(step); }

  [[nodiscard]] Solver& solver() noexcept { return solver_; }
  [[nodiscard]] const Solver& solver() const noexcept { return solver_; }

 private:
  [[nodiscard]] Ball ball() const noexcept { return problem_.ball_at(solver_.time()); }

  const Problem& problem_;
  Solver solver_;
  Samples samples_;
  MeshRows mesh_rows_;
};

}  // namespace tailrace::heat
