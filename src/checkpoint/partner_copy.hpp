// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/node.hpp"
#include "node_store.hpp"
#include "part.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::checkpoint {

/// Describes which ranks keep copies for which: those of a node for those of the node before it, in a ring.
struct Partners {
  std::int64_t node = 0, nodes = 1;
  int to = -1;          ///< the rank that keeps a copy of this rank's parts; -1: none
  int copies_here = 0;  ///< parts of others that this rank keeps
};
/// @collective{comm}, synchronises. Memory: 16 bytes for each rank.
Partners find_partners(mpi::CommView comm, const mpi::Node& node);

/// The parts of one checkpoint on their way to other nodes, in batches that the main threads hand on between
/// steps.
class PartnerCopy {
 public:
  /// `comm` serves these messages alone. `own` is complete but for the device. @local
  PartnerCopy(mpi::CommView comm, const Partners& partners, const std::string& node_directory,
              const PartFile& own, const Part& part);
  /// While an error ends the run, messages may be left over.
  ~PartnerCopy();
  PartnerCopy(const PartnerCopy&) = delete;
  PartnerCopy& operator=(const PartnerCopy&) = delete;

  /// Lets the messages continue; true once all have been sent and received, or dropped after a failure here.
  /// @local
  bool progress();
  /// After that: puts the data that came onto the device. @local. Errors (io, input): of any time before.
  void flush();
  /// Then makes the copies count. @local. Errors (io).
  void describe() const;

 private:
  class Outgoing;
  class Incoming;
  bool take_arrivals();

  mpi::CommView comm_;
  std::string node_directory_;
  int expected_;
  std::unique_ptr<Outgoing> outgoing_;  ///< null without a partner
  std::vector<std::unique_ptr<Incoming>> incoming_;
};

}  // namespace tailrace::checkpoint
