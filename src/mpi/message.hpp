// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/handles.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// A block in memory: planes of rows of contiguous bytes, at these distances from each other.
struct BlockShape {
  std::int64_t row_bytes = 0, rows = 1, planes = 1;
  std::int64_t row_distance_bytes = 0, plane_distance_bytes = 0;

  friend auto operator<=>(const BlockShape&, const BlockShape&) = default;
  [[nodiscard]] std::int64_t size_bytes() const noexcept { return row_bytes * rows * planes; }
};

/// MPI's description of the blocks of one shape.
class BlockType {
 public:
  /// Of at most 2^31 - 1 bytes. @local
  explicit BlockType(const BlockShape& shape);
  BlockType(BlockType&& other) noexcept : type_(std::exchange(other.type_, DatatypeHandle::none)) {}
  BlockType& operator=(BlockType&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  ~BlockType();

  [[nodiscard]] DatatypeHandle get() const noexcept { return type_; }

 private:
  DatatypeHandle type_ = DatatypeHandle::none;
};

/// Starts to send or to receive the block whose first byte is `first`; its memory belongs to MPI until the
/// request is complete. Both sides agree on the number of bytes, not on the shape. @local, does not wait.
Request start_send(CommView comm, const std::byte* first, DatatypeHandle block, int to, int tag);
Request start_receive(CommView comm, std::byte* first, DatatypeHandle block, int from, int tag);

/// The same for plain bytes, at most 2^31 - 1; the receiver knows their number.
Request start_send(CommView comm, std::span<const std::byte> bytes, int to, int tag);
Request start_receive(CommView comm, std::span<std::byte> out, int from, int tag);

/// Describes the same message, to be started again and again with `start`; it is freed with `free_request`.
/// @local
Request prepare_send(CommView comm, std::span<const std::byte> bytes, int to, int tag);
Request prepare_receive(CommView comm, std::span<std::byte> out, int from, int tag);
void start(Request& prepared);
void free_request(Request& request) noexcept;

/// Lets MPI continue; returns the numbers of the requests that are complete since the last call, none if
/// there are none or nothing is under way. @local, does not wait.
std::span<const int> test_some(std::span<Request> requests, std::vector<int>& numbers);

/// Takes the place of a rank: a message from any rank is received.
inline constexpr int any_source = -1;

/// Describes a message that has been received.
struct Received {
  int source = 0;
  std::int64_t bytes = 0;
};
/// Describes which of several receives has received what.
struct ReceivedBy {
  std::size_t request = 0;
  Received what;
};
/// Lets MPI continue once; returns what a receive has received, the first of those that are complete.
/// @local, does not wait
std::optional<ReceivedBy> test_receives(std::span<Request> requests);

/// A message on its way that only its finder can receive any more.
struct Arrival {
  int source = 0;
  std::int64_t bytes = 0;
  MessageHandle handle = MessageHandle::none;
};

/// Looks for a message with this tag from any rank. @local, does not wait.
std::optional<Arrival> find_arrival(CommView comm, int tag);
/// Starts to receive it into as many bytes; they belong to MPI until the request is complete. @local
Request start_receive(const Arrival& arrival, std::span<std::byte> out);
/// Receives it whole; for short messages. @local, waits for the rest of it.
std::vector<std::byte> receive(const Arrival& arrival);
/// Starts to send bytes, at most 2^31 - 1, that the receiver's MPI must not take in before they are looked
/// for: the request is complete when they were. @local, does not wait.
Request start_synchronous_send(CommView comm, std::span<const std::byte> bytes, int to, int tag);

}  // namespace tailrace::mpi
