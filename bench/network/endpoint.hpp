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

struct Adapter {
  std::string name;
  /// Makes the side of this rank of a communicator of two, for messages of at most so many bytes.
  std::unique_ptr<Endpoint> (*make)(MPI_Comm comm, std::size_t largest);
};

/// All adapters; the first, blocking MPI, is what others are compared with.
const std::vector<Adapter>& adapters();

}  // namespace tailrace::bench::network
