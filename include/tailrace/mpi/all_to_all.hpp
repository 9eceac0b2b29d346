#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tailrace/mpi/comm.hpp"

namespace tailrace::mpi {

/// Sends each rank its bytes, which lie one behind the other in the order of the ranks, and returns what
/// came, in the order of the senders. At most 2^31 - 1 bytes leave a rank, and as many come.
/// @collective{comm}
std::vector<std::byte> exchange_bytes(CommView comm, std::span<const std::byte> data,
                                      const std::vector<std::int64_t>& bytes_to);

/// Sends values[r] to rank r, and returns what all ranks sent here, in the order of the senders.
/// @collective{comm}. Memory: a copy of what leaves and one of what comes.
template <Sendable T>
std::vector<T> exchange(CommView comm, const std::vector<std::vector<T>>& values) {
  std::vector<T> leaving;
  std::vector<std::int64_t> bytes_to;
  for (const auto& some : values) {
    leaving.insert(leaving.end(), some.begin(), some.end());
    bytes_to.push_back(static_cast<std::int64_t>(some.size() * sizeof(T)));
  }
  const auto bytes = exchange_bytes(comm, std::as_bytes(std::span(std::as_const(leaving))), bytes_to);
  std::vector<T> arrived(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(arrived.data(), bytes.data(), bytes.size());
  return arrived;
}

}  // namespace tailrace::mpi
