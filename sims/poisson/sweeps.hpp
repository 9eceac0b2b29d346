// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "methods.hpp"
#include "mpi/open_barrier.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::poisson {

/// The methods as fragment programs. One run of a program takes the state any number of sweeps further; where
/// it is looked at, its sweeps run on meanwhile.
class Sweeps {
 public:
  /// Called on all ranks with the number of a look, from 0, and what it has found; returns whether to
  /// continue.
  using Look = std::function<bool(std::size_t, Found)>;

  /// All but `comm` and `how` outlive this. @collective{comm}
  Sweeps(mpi::CommView comm, const Problem& problem, const BlockGrid& blocks, const State& state,
         fragments::Options how);
  Sweeps(const Sweeps&) = delete;
  Sweeps& operator=(const Sweeps&) = delete;

  /// Sweeps on from the state, with looks after so many sweeps each, in ascending order; the last of them is
  /// the end, unless a look was the last. An exception of a look ends the sweeps, and is thrown then.
  /// @collective{comm}
  void run(const std::vector<int>& looks, const Look& look);
  /// Finds the residual of the state. @collective{comm}
  Found evaluate();

 private:
  /// The sweeps of one program, while it runs.
  class Pass;

  void execute(const fragments::Program& program, Method method, const std::vector<int>& looks,
               const Look& look);

  mpi::CommView comm_;
  fragments::Options how_;
  const BlockGrid& blocks_;
  Method method_;
  Kernels kernels_;
  Gathering gathering_;
  std::vector<int> ends_;  ///< of the intervals of the program that runs, as it counts them; first the begin
  mpi::OpenBarrier barrier_;
  fragments::Program sweeps_;
  std::optional<fragments::Program> evaluation_;  ///< if it is not the same
};

}  // namespace tailrace::poisson
