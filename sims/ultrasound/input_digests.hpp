// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::ultrasound {

/// Adds this rank's share of the digests of all but the datasets of the grid; the root has that of what all
/// ranks know. @local
template <class Real>
void add_small_digests(Input<Real>& input, bool is_root);
/// Makes them those of all ranks together, which have the same names. @collective{comm}
void sum_digests(mpi::CommView comm, checkpoint::InputDigests& digests);

}  // namespace tailrace::ultrasound
