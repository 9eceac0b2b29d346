// SPDX-License-Identifier: BSD-3-Clause
#include "room.hpp"

#include <fmt/format.h>

#include "base/available_memory.hpp"
#include "mpi/node.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench::network {

namespace {

constexpr std::int64_t shared_slots = 3 * 8;  // of puts, of the memory of a node, of the symmetric memory
constexpr std::int64_t private_copies = 8;    // rooms of receivers, messages on their way

}  // namespace

void require_room(mpi::CommView comm, const Settings& settings, int connections) {
  const mpi::Node node(comm);
  const auto each = static_cast<std::int64_t>(settings.largest() + 128) * connections;
  const std::int64_t needed = node.comm().size() * each * (shared_slots + private_copies);
  const bool memory =
      mpi::min(comm, std::int64_t{needed < available_memory_bytes().value_or(needed + 1)}) != 0;
  const bool shared = mpi::has_shared_room(node.comm(), static_cast<std::size_t>(each * shared_slots));
  if (mpi::min(comm, std::int64_t{memory && shared}) != 0) return;
  throw Error(
      ErrorKind::resource,
      fmt::format("messages of {} bytes to {} other rank{} take {:.1f} GB on a machine, and there is no "
                  "room for it in {}. Fix: leave the largest sizes out",
                  settings.largest(), connections, connections == 1 ? "" : "s",
                  static_cast<double>(needed) * 1e-9, memory ? "/dev/shm" : "its memory"));
}

}  // namespace tailrace::bench::network
