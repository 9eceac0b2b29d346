// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::molecules {

/// Molecules in the order of their ids: each has a place, counted from 0, and each rank owns as many
/// neighbouring places as any other, or one more. Ids may be any numbers; who moves where does not change the
/// order.
class IdOrder {
 public:
  /// `ids` are those of this rank's molecules, in any order. @collective{comm}, synchronises. Errors (input),
  /// on all ranks: two molecules have one id. Cost: 64 sums over the ranks of 8 bytes for each, and one
  /// exchange of the ids. Memory: 8 bytes for each molecule owned, and for each rank.
  IdOrder(mpi::CommView comm, std::vector<std::uint64_t> ids);

  /// Number of all molecules.
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// First place of a rank, from 0 to the number of ranks, where it is `size()`.
  [[nodiscard]] std::int64_t begin(int rank) const noexcept { return size_ * rank / ranks_; }
  [[nodiscard]] std::int64_t begin() const noexcept { return begin(rank_); }
  [[nodiscard]] std::int64_t end() const noexcept { return begin(rank_ + 1); }
  /// The ids at this rank's places, ascending.
  [[nodiscard]] std::span<const std::uint64_t> own() const noexcept { return own_; }
  /// The rank that owns the place of an id. @local
  [[nodiscard]] int owner(std::uint64_t id) const noexcept;
  /// The place of an id that this rank owns, counted from `begin()`; -1 for one that no molecule has. @local
  [[nodiscard]] std::int64_t place(std::uint64_t id) const noexcept;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  void find_borders(mpi::CommView comm, const std::vector<std::uint64_t>& sorted);
  void gather_own(mpi::CommView comm, const std::vector<std::uint64_t>& sorted);
  void refuse_doubled(mpi::CommView comm) const;

  int rank_ = 0, ranks_ = 1;
  std::int64_t size_ = 0;
  std::vector<std::uint64_t> borders_;  ///< the ids of each rank but the first begin there
  std::vector<std::uint64_t> own_;
};

}  // namespace tailrace::molecules
