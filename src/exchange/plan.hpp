// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/entries.hpp"
#include "exchange/inspection.hpp"
#include "exchange/line.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::exchange {

/// Entries of an array that are exchanged with another rank.
struct Share {
  int rank = 0;
  Entries entries;
};

/// Both sides of what a rank exchanges, by rank.
struct Plan {
  Inspection inspection;       ///< what it reads
  std::vector<Share> readers;  ///< which of its own values others read
};

/// Inspects, and lets each owner know what is wanted of it. @collective{comm}, synchronises. Errors: of
/// `inspect` and of `Distribution::check`, the same on all ranks.
Plan make_plan(mpi::CommView comm, const Distribution& distribution, std::span<const std::int64_t> indices);

/// Which single contributions go where, for sums in the order (rank, position).
struct ContributionPlan {
  std::vector<Share> out;  ///< positions whose values go to another rank
  std::vector<Share> in;   ///< owned slots that another rank's contributions are for, in its order
  PairedEntries alone;     ///< positions of own slots to which nobody else contributes, and the slots
  PairedEntries in_turn;   ///< the same of the other own slots

  [[nodiscard]] std::size_t memory_bytes() const noexcept;
};

/// @collective{comm}, synchronises
ContributionPlan make_contribution_plan(mpi::CommView comm, const Plan& plan);

/// The owned slots that other ranks contribute to, each once.
struct SharedSlots {
  Entries slots;  ///< ascending
  std::int64_t count = 0;
  std::vector<std::vector<std::int64_t>> numbers;  ///< of each reader's entries, among `slots`

  [[nodiscard]] std::size_t memory_bytes() const noexcept;
};

/// @local
SharedSlots shared_slots_of(const Plan& plan);

/// The peers of a line that carries the entries of some shares.
std::vector<Peer> peers_of(const std::vector<Share>& shares, std::size_t entry_bytes);
std::vector<Peer> peers_of(const std::vector<Source>& sources, std::size_t entry_bytes);

}  // namespace tailrace::exchange
