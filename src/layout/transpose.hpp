// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::layout {

struct TransposeConfig {
  Decomposition from, to;  ///< refers to the same extents, over as many ranks as the communicator has
  LocalLayout from_layout, to_layout;  ///< refers to this rank; may differ between ranks
  std::size_t element_bytes = 0;
  Axis batch_axis = Axis::z;
  /// Ranks, this one perhaps among them, with which nothing is exchanged, because the caller reaches their
  /// points by itself. If a rank leaves another out, the other leaves it out too. The own part of a rank that
  /// does not leave out itself is copied.
  std::vector<int> left_out = {};
  int batches = 1;  ///< may exceed the planes of a rank: the last batches are then empty
  std::size_t largest_message_bytes = std::size_t{1}
                                      << 30;  ///< longer ones are split: MPI 3.1 counts are int
};

/// Moves arrays from one decomposition of a box to another, in batches, so that the exchange of a finished
/// batch continues while the next one is computed. Only ranks whose boxes meet exchange messages; a rank's
/// own part is copied. MPI takes the points out of the one array and puts them into the other: no staging
/// memory (docs/explain/layout.md says why). Main thread only; outlives its flights.
class Transpose {
 public:
  class Flight;

  /// Plans the exchange. All of `config` but the two layouts agrees on all ranks. @collective{comm},
  /// synchronises. Memory: 32 bytes per message, that is per batch and meeting rank.
  Transpose(mpi::CommView comm, const TransposeConfig& config);
  Transpose(Transpose&&) noexcept;
  Transpose& operator=(Transpose&&) noexcept;
  /// @collective{comm}
  ~Transpose();

  [[nodiscard]] int batches() const noexcept;
  /// Part `k` of this rank's `from` range along the batch axis.
  [[nodiscard]] Range batch(int k) const;

  /// Begins to move one array; several may be in flight at once. `from` and `to` do not overlap; `to` belongs
  /// to the flight until it has finished. Every rank begins its flights in the same order. @collective{comm},
  /// does not wait.
  [[nodiscard]] Flight begin(const void* from, void* to);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// One array on its way.
class Transpose::Flight {
 public:
  Flight(Flight&& other) noexcept;
  Flight& operator=(Flight&&) = delete;
  /// A flight that has not finished gives up: its receives are cancelled. Only right while an error ends the
  /// program.
  ~Flight();

  /// Sends batch `k`, whose planes of `from` the caller has filled and leaves alone until `finish`. Every
  /// rank starts every batch once, also those that are empty for it, in any order. @collective{comm}, does
  /// not wait.
  void start(int k);
  /// Lets MPI continue. @local, does not wait.
  void progress();
  /// Waits until `to` is complete and `from` may be changed again. Every batch has been started.
  /// @collective{comm}
  void finish();

 private:
  friend class Transpose;
  Flight(Plan& plan, const std::byte* from, std::byte* to);

  Plan* plan_;  ///< none once finished
  const std::byte* from_;
  std::byte* to_;
  int first_tag_, started_ = 0;
  std::vector<mpi::Request> requests_;  ///< the receives, then the sends so far
};

}  // namespace tailrace::layout
