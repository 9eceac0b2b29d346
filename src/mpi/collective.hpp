// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"

/// Collective operations that are begun, for callers that have something to do until they are complete. The
/// memory belongs to MPI until then. All ranks begin the same ones in the same order.
namespace tailrace::mpi {

/// What becomes of the numbers of all ranks.
enum class Combination : std::uint8_t { sum, min, max };

/// Begins to replace the numbers by those of all ranks, combined one by one; as many on all ranks, at most
/// 2^31 - 1. @collective{comm}, does not wait
[[nodiscard]] Request start_combining(CommView comm, std::span<float> values, Combination how);
[[nodiscard]] Request start_combining(CommView comm, std::span<double> values, Combination how);
[[nodiscard]] Request start_combining(CommView comm, std::span<std::int32_t> values, Combination how);
[[nodiscard]] Request start_combining(CommView comm, std::span<std::int64_t> values, Combination how);

/// Begins to send the root's bytes to all; at most 2^31 - 1, as many on all ranks. @collective{comm}, does
/// not wait
[[nodiscard]] Request start_broadcast(CommView comm, std::span<std::byte> bytes, int root);

/// Where the bytes of each rank are, one behind the other, in the order of ranks.
class Blocks {
 public:
  /// Errors (resource): together more than 2^31 - 1 bytes, which is what MPI 3.1 counts.
  explicit Blocks(std::span<const std::int64_t> bytes_of_rank);
  [[nodiscard]] std::size_t size_bytes() const noexcept { return static_cast<std::size_t>(total_); }
  [[nodiscard]] const std::vector<int>& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::vector<int>& places() const noexcept { return places_; }

 private:
  std::vector<int> counts_, places_;
  std::int64_t total_ = 0;
};

/// Begins to bring the bytes of all ranks to all. `blocks` outlives the request. @collective{comm}, does not
/// wait
[[nodiscard]] Request start_collecting(CommView comm, std::span<const std::byte> mine,
                                       std::span<std::byte> all, const Blocks& blocks);
/// Begins to send each rank its block of `out`, and to receive its block into `in`. The blocks outlive the
/// request. @collective{comm}, does not wait
[[nodiscard]] Request start_all_to_all(CommView comm, std::span<const std::byte> out, const Blocks& sent,
                                       std::span<std::byte> in, const Blocks& received);

}  // namespace tailrace::mpi
