// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/packets.hpp"

#include <algorithm>

#include "mpi_case.hpp"

using namespace tailrace;

namespace {

/// Returns what rank `from` has for rank `to` in a round: of many lengths, often nothing.
std::vector<std::byte> content(int from, int to, int round) {
  const int kind = (from * 5 + to * 3 + round) % 4;
  const std::size_t length = kind == 0 ? 0 : kind == 1 ? 1 : static_cast<std::size_t>(kind) * 40000;
  return std::vector<std::byte>(length, static_cast<std::byte>(from * 16 + to + round));
}

}  // namespace

MPI_CASE("packets reach those who do not expect them, call after call", ranks{1, 2, 3, 7}) {
  const auto before = mpi::delivered();
  std::int64_t messages = 0, bytes_sent = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<mpi::Packet<>> outgoing, expected;
    for (int peer = comm.size() - 1; peer >= 0; --peer) {
      auto bytes = content(comm.rank(), peer, round);
      if (!bytes.empty() && peer != comm.rank()) {
        ++messages;
        bytes_sent += static_cast<std::int64_t>(bytes.size());
      }
      if (!bytes.empty()) outgoing.push_back({peer, std::move(bytes)});
    }
    for (int peer = 0; peer < comm.size(); ++peer) {
      auto bytes = content(peer, comm.rank(), round);
      if (!bytes.empty()) expected.push_back({peer, std::move(bytes)});
    }
    const auto arrived = mpi::deliver(comm, std::move(outgoing));
    CHECK((arrived == expected));
  }
  CHECK(mpi::deliver(comm, {}).empty());
  CHECK(mpi::delivered().messages - before.messages == messages);
  CHECK(mpi::delivered().bytes - before.bytes == bytes_sent);
}
