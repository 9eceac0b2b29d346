// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpi_case.hpp"

using namespace tailrace;

namespace {

/// Windows of sizes that no two ranks share, some of them without a byte.
std::size_t size_of(int rank) {
  constexpr std::size_t sizes[] = {1, 5000, 0, 77, 9001, 4096, 3};
  return sizes[static_cast<std::size_t>(rank)];
}

std::byte content(int origin, int round) {
  return static_cast<std::byte>(31 * origin + 7 * round + 1);
}

/// This rank's bytes that are not what `origin` wrote.
std::int64_t wrong(const mpi::Window& window, int rank, int origin, int round) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(rank));
  return size - std::count(window.data(), window.data() + size, content(origin, round));
}

}  // namespace

MPI_CASE("what the next rank puts between two fences is there whole, whatever the sizes",
         ranks{1, 2, 3, 4, 7}) {
  mpi::Window window(comm, size_of(comm.rank()));
  const int to = (comm.rank() + 1) % comm.size(), from = (comm.rank() + comm.size() - 1) % comm.size();
  for (int round = 0; round < 3; ++round) {
    const std::vector<std::byte> bytes(size_of(to), content(comm.rank(), round));
    window.fence();
    window.put(bytes, to, 0);
    window.fence();
    CHECK(wrong(window, comm.rank(), from, round) == 0);
  }
}

MPI_CASE("what is flushed is there once a barrier has said so, and can be got back", ranks{1, 2, 3, 7}) {
  mpi::Window window(comm, size_of(comm.rank()));
  window.lock_all();
  const int to = (comm.rank() + 1) % comm.size(), from = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<std::byte> bytes(size_of(to), content(comm.rank(), 1));
  window.put(bytes, to, 0);
  window.flush(to);
  mpi::barrier(comm);
  window.sync();
  CHECK(wrong(window, comm.rank(), from, 1) == 0);
  std::vector<std::byte> back(size_of(to));
  window.get(back, to, 0);
  window.flush(to);
  CHECK(back == bytes);
  mpi::barrier(comm);
  window.unlock_all();
}
