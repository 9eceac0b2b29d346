// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "am/message.hpp"
#include "am/transport.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::am {

/// A transport over MPI: frames into receives that are posted beforehand, bodies from memory to memory. Has a
/// duplicate of `comm`, which its end frees (@collective{comm}), after `all_arrived`. Memory: 64 frames of
/// `Options::max_frame_bytes`. @collective{comm}
std::unique_ptr<Transport> over_mpi(mpi::CommView comm, const Options& options = {});

}  // namespace tailrace::am
