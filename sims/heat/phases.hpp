// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/system.hpp"

namespace tailrace::heat {

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

}  // namespace tailrace::heat
