// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tailrace::bench::network {

using Bytes = std::span<const std::byte>;

/// One side of a connection between two ranks, over any transport: what the tests know of it.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  /// Sends a message of at most the largest size. Its bytes may be changed after `flush`.
  virtual void send(Bytes message) = 0;
  /// Waits for the next message. Its bytes are there until the next call.
  virtual Bytes receive() = 0;
  /// Waits until all bytes that were sent may be changed.
  virtual void flush() {}
};

inline constexpr int any_number = 1 << 30;

struct Adapter {
  std::string name;
  /// Makes the side of this rank of a communicator of two, for messages of at most so many bytes; null where
  /// there is no such connection. @collective{comm}
  std::unique_ptr<Endpoint> (*make)(MPI_Comm comm, std::size_t largest);
  /// Messages of any size that both sides can send before either of them receives.
  int ahead = 0;
};

/// A window with so many bytes of this rank; none on any rank if MPI has none for these ranks, as over some
/// networks. @collective{comm}
MPI_Win allocate_window(MPI_Comm comm, std::size_t bytes, std::byte*& memory);

/// Memory that both ranks share; null for ranks of different nodes.
std::unique_ptr<Endpoint> node_memory(MPI_Comm comm, std::size_t largest);
/// Active messages of the library, each on its own, or small ones together; of more ranks than two, to rank
/// 0.
std::unique_ptr<Endpoint> active_messages(MPI_Comm comm, std::size_t largest);
std::unique_ptr<Endpoint> active_messages_together(MPI_Comm comm, std::size_t largest);

/// Puts with a signal into symmetric memory of the library.
std::unique_ptr<Endpoint> heap_messages(MPI_Comm comm, std::size_t largest);

/// All adapters; the first, blocking MPI, is what others are compared with.
const std::vector<Adapter>& all_adapters();
/// Those by which the ranks of any communicator send to rank 0; others are compared with the first.
const std::vector<Adapter>& any_source_adapters();

}  // namespace tailrace::bench::network
