// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/save.hpp"
#include "output/core/options.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/checkpoint_options.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::checkpoint {

/// Checkpoints on two levels: each is first written to the nodes' own devices, part by part, and counts from
/// there on; asynchronously the parts of one after the other go into the container in the directory
/// of the run, and what was overtaken meanwhile is left out.
class TwoLevels {
 public:
  /// Forgets what earlier segments left on the nodes. @collective{comm}, synchronises. Every rank throws the
  /// same error or none. `options` give pace and faults of the shared level.
  TwoLevels(mpi::CommView comm, const LocalLevel& level, const std::string& directory,
            const Compression& compression, const output::Options& options);
  ~TwoLevels();
  TwoLevels(const TwoLevels&) = delete;
  TwoLevels& operator=(const TwoLevels&) = delete;

  /// Writes the state to the node, which is all that the computation waits for. None is on its way to the
  /// nodes. @collective{comm}, synchronises. Every rank throws the same error or none.
  void take(const Origin& origin, const StateFunction& state);
  /// Returns whether a checkpoint is on its way to the nodes, or to the shared file system. The same on all
  /// ranks.
  [[nodiscard]] bool is_local_pending() const noexcept;
  [[nodiscard]] bool is_copy_pending() const noexcept;
  /// Lets what is on its way continue; true once all of this rank is there: on the nodes, or if nothing is on
  /// its way to these, in the shared file system. @local
  [[nodiscard]] bool ready();
  /// The one on its way to the nodes: waits for all ranks, then it counts, and older ones are removed there.
  /// The samples that belong to it are on the device. Returns the bytes of this rank. @collective{comm},
  /// synchronises. Every rank throws the same error or none; it is given up then.
  std::int64_t commit_local();
  /// The one on its way to the shared file system: waits for all ranks, then it has its name there.
  /// @collective{comm}, synchronises. Every rank throws the same error or none; it is given up then.
  void commit_copy();
  /// The newest one, or the next, is to be copied whatever `copy_every` says. The same on all ranks. @local
  void want_copy() noexcept;
  /// Lets the newest one set out for the shared file system, if it is to be there and none is on its way.
  /// @collective{comm}, synchronises. Every rank throws the same error or none.
  void start_wanted_copy();
  /// At the end, when nobody will resume from what is on the nodes: removes it. @collective{comm}
  void clear();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

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
                                             const output::Options& options);

/// From now on nothing that an earlier segment left on the nodes counts; what is found there is removed.
/// @collective{comm}, synchronises
void forget_local_level(mpi::CommView comm, const std::string& directory);

}  // namespace tailrace::checkpoint
