// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/pipeline.hpp"
#include "tailrace/checkpoint_options.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::checkpoint {

/// Checkpoints on two levels: each is first written to the nodes' own devices, part by part, and counts from
/// there on; asynchronously the parts of one after the other go into the container in the directory
/// of the run, and what was overtaken meanwhile is left out. Forgets what earlier segments left on the nodes.
/// @collective{comm}, synchronises. Every rank throws the same error or none. The options give pace and
/// faults of the shared level.
std::unique_ptr<Pipeline> create_two_levels(mpi::CommView comm, PipelineContext context);

/// Bytes that they take on this rank: batches of what is written and copied, to and from a partner too.
/// @local
std::size_t memory_of_levels(mpi::CommView comm, const LocalLevel& level, const Compression& compression);

/// Returns whether an earlier segment may have left checkpoints on nodes. @local
bool has_local_level(const std::string& directory);

/// Completes, in the directory of a run, the newest checkpoint of which all parts are found on the nodes, if
/// it is newer than those that are there. Returns warnings, the same on all ranks: which one could not be
/// completed and what is missing. @collective{comm}, synchronises. Errors (io), on all ranks. Memory: 16
/// bytes for each rank that wrote.
std::vector<std::string> complete_from_nodes(mpi::CommView comm, const std::string& directory,
                                             const output::WriteOptions& options);

/// From now on nothing that an earlier segment left on the nodes counts; what is found there is removed.
/// @collective{comm}, synchronises
void forget_local_level(mpi::CommView comm, const std::string& directory);

}  // namespace tailrace::checkpoint
