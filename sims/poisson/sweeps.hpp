// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "base/aligned.hpp"
#include "kernels.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/fragments/program.hpp"

namespace tailrace::poisson {

/// What a rank holds between two fragment programs: arrays of its own box, x fastest.
struct State {
  Box own;
  AlignedVector<double> u, rhs, residual;
  AlignedVector<double> r, p;  ///< residual and direction of conjugate gradients; else empty
  double rho = 0;              ///< r r, of conjugate gradients
  double square = 0;           ///< the sum of the squares of the residual

  /// The values of a box of points, which lies in the own one.
  [[nodiscard]] Values copy(const AlignedVector<double>& array, const Box& box) const;
  void put(AlignedVector<double>& array, const Box& box, const Values& values) const;
};

/// The methods as fragment programs. One run of a program takes the state some sweeps further.
class Sweeps {
 public:
  /// All but `comm` and `how` outlive this. @local
  Sweeps(mpi::CommView comm, const Problem& problem, const BlockGrid& blocks, State& state,
         fragments::Options how);
  Sweeps(const Sweeps&) = delete;
  Sweeps& operator=(const Sweeps&) = delete;

  /// Does so many sweeps and finds the residual after them. @collective{comm}
  void run(int count);
  /// Finds the residual. @collective{comm}
  void evaluate();

 private:
  mpi::CommView comm_;
  fragments::Options how_;
  Kernels kernels_;
  fragments::Program sweeps_;
  std::optional<fragments::Program> evaluation_;  ///< if it is not the same
};

}  // namespace tailrace::poisson
