// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/run/run_size.hpp"

/// Whether a run fits into the memory of its machines, before it takes any.
namespace tailrace::run {

/// Describes what the processes of a machine may take together.
struct MemoryLimit {
  double bytes = 0;
  bool of_group = false;  ///< the control group of this process allows less than the machine has
};
/// @local
MemoryLimit memory_limit();

/// The error of processes that take more than their machine's limit together; nothing if they fit. @local
std::optional<ErrorInfo> too_much_memory(double needed_bytes, const MemoryLimit& limit, const RunSize& size);

/// Returns whether a batch system has started this process: its job may have other machines too. @local
bool in_batch_job() noexcept;

/// Adds up what the ranks of each machine take. @collective{comm}, synchronises. Errors (input), on all
/// ranks: some machine has less.
void check_memory(mpi::CommView comm, double own_bytes, const RunSize& size);

}  // namespace tailrace::run
