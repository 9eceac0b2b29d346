// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/aligned.hpp"
#include "gathering.hpp"
#include "tailrace/fragments/program.hpp"

namespace tailrace::poisson {

/// What a rank holds between two fragment programs, and at a look: arrays of its own box, x fastest.
struct State {
  Box own;
  AlignedVector<double> u, rhs, residual;
  AlignedVector<double> r, p;  ///< residual and direction of conjugate gradients; else empty
  double rho = 0;              ///< r r, of conjugate gradients
  double square = 0;           ///< the sum of the squares of the residual
};

/// Copies the points that two boxes share from the values of one to those of the other; x is fastest in both.
/// @local
void copy_shared(const double* from, const Box& from_box, double* to, const Box& to_box);

/// What bodies use beside their inputs.
struct Surroundings {
  const Problem& problem;
  const Kernels& kernels;
  const BlockGrid& blocks;
  const State& state;
  const std::vector<int>& ends;
  Gathering& gathering;

  /// The end of an interval, -1 behind the last.
  [[nodiscard]] int end_of(int interval) const {
    const auto i = static_cast<std::size_t>(interval);
    return i < ends.size() ? ends[i] : -1;
  }
};

/// The program of a method. It has two words: the sweeps, in substeps, and the looks. What `around` refers to
/// outlives it. @local
fragments::Program describe(Method method, const Surroundings& around);

}  // namespace tailrace::poisson
