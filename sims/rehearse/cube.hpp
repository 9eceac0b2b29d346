// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/aligned.hpp"
#include "formula.hpp"
#include "load.hpp"
#include "particles.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::rehearse {

/// The simulation without physics, as `run::drive` wants it: each step does its load, sets the field anew by
/// the formula, and meets the other ranks once, as the exchanges of a solver do.
class Cube {
 public:
  /// `load`, `particles` (null: none) and `log` outlive the cube, which begins in the state of step 0.
  /// Rows have elements of `row_type`.
  Cube(mpi::CommView comm, const Formula& formula, const Box& own_box, h5::ElementType row_type, Load& load,
       Particles* particles, trace::Log& log);

  /// @collective{comm}
  void advance(StepIndex step);
  [[nodiscard]] output::FieldView field(const std::string& quantity) const;
  /// The points of this rank that `Formula::is_row` takes now, in the order of their numbers.
  [[nodiscard]] output::RowsView rows(const std::string& quantity);
  /// Saves or restores the field, though it could be had from the step alone: a rehearsal does as others do.
  /// @local
  void state(checkpoint::StateArchive& archive);
  /// @collective{comm}. Errors (input): the particles that came back are others than those of the case.
  void restored(StepIndex step);
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  void set_field(StepIndex step) noexcept;

  mpi::CommView comm_;
  Formula formula_;
  Box own_box_;
  Load& load_;
  Particles* particles_;
  trace::Log& log_;
  std::variant<AlignedVector<float>, AlignedVector<double>> values_;
  StepIndex step_ = 0;
  std::variant<std::vector<float>, std::vector<double>> rows_;
};

}  // namespace tailrace::rehearse
