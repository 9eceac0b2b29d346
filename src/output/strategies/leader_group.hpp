// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "output/strategies/leader_work.hpp"
#include "output/strategies/shared_region.hpp"

namespace tailrace::output {

/// Describes what a rank has of the group whose samples one leader, its first rank, writes.
struct LeaderGroup {
  SharedRegion own;                  ///< this rank's jobs and buffers
  SharedRegion board_memory;         ///< the leader's board
  SharedJobs jobs;                   ///< in `own`
  LeaderBoard* board;                ///< in `board_memory`
  std::vector<SharedRegion> others;  ///< on the leader: the memory of the other members
  std::vector<GroupMember> members;  ///< on the leader: all, itself included; empty elsewhere
};

/// Forms groups of at most as many consecutive ranks of a node as the options say, and has each share its
/// memory. Nothing for ranks that are alone in theirs, and for all ranks of a group that the system refuses
/// the memory, which the warning of the context says. @collective{context.comm}
std::optional<LeaderGroup> join_leader_group(const WriterContext& context);

}  // namespace tailrace::output
