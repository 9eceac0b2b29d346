// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <string>
#include <vector>

#include "mpi/message.hpp"
#include "mpi_case.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

MPI_CASE("reductions reach every rank", ranks{1, 2, 3, 4, 7}) {
  const std::int64_t n = comm.size(), r = comm.rank();
  CHECK(mpi::sum(comm, r + 1) == n * (n + 1) / 2);
  CHECK(mpi::sum(comm, 0.5) == 0.5 * static_cast<double>(n));
  CHECK(mpi::max(comm, r) == n - 1);
  CHECK(mpi::min(comm, r) == 0);
  CHECK(mpi::max(comm, -static_cast<double>(r)) == 0.0);
  CHECK(mpi::min(comm, -static_cast<double>(r)) == -static_cast<double>(n - 1));
  CHECK(mpi::exclusive_scan(comm, r + 1) == r * (r + 1) / 2);
}

MPI_CASE("reductions keep 64 bits", ranks{1, 3}) {
  const std::int64_t large = std::int64_t{1} << 53;  // a double would lose the last bit of the sum
  CHECK(mpi::sum(comm, large + 1) == comm.size() * (large + 1));
}

MPI_CASE("broadcast takes the root's length", ranks{1, 2, 3, 4, 7}) {
  for (int root = 0; root < comm.size(); ++root) {
    const bool here = comm.rank() == root;
    CHECK(mpi::broadcast(comm, here ? "from the root" : std::string(comm.rank(), 'x'), root) ==
          "from the root");
    CHECK(mpi::broadcast(comm, here ? "" : "not empty", root).empty());
    std::vector<std::int64_t> values(here ? 1000 : 3);
    if (here) std::iota(values.begin(), values.end(), root);
    mpi::broadcast(comm, values, root);
    REQUIRE(values.size() == 1000);
    CHECK(values.front() == root);
    CHECK(values.back() == root + 999);
  }
}

MPI_CASE("gather keeps the order of the ranks and empty texts", ranks{1, 2, 3, 4, 7}) {
  const int root = comm.size() - 1;
  const auto texts = mpi::gather(comm, std::string(static_cast<std::size_t>(comm.rank() % 3), 'a'), root);
  if (comm.rank() != root) {
    CHECK(texts.empty());
    return;
  }
  REQUIRE(texts.size() == static_cast<std::size_t>(comm.size()));
  for (std::size_t r = 0; r < texts.size(); ++r) CHECK(texts[r] == std::string(r % 3, 'a'));
}

MPI_CASE("split makes communicators by colour, or none", ranks{1, 2, 3, 4, 7}) {
  const mpi::Comm parity = mpi::Comm::split(comm, comm.rank() % 2);
  CHECK(parity.view().rank() == comm.rank() / 2);
  CHECK(mpi::sum(parity, std::int64_t{1}) == (comm.size() + 1 - comm.rank() % 2) / 2);
  const mpi::Comm first = mpi::Comm::split(comm, comm.rank() == 0 ? 5 : -1);
  CHECK(first.empty() == (comm.rank() != 0));
}

MPI_CASE("a duplicate returns errors instead of ending the program", ranks{1, 2}) {
  mpi::Comm mine = mpi::Comm::duplicate(comm);
  const int nobody = comm.size();
  CHECK_THROWS_AS(static_cast<void>(mpi::start_send(mine, std::span<const std::byte>{}, nobody, 0)), Error);
  mine.close();
  CHECK(mine.empty());
}

MPI_CASE("a moved communicator leaves an empty one", ranks{1, 3}) {
  mpi::Comm first = mpi::Comm::duplicate(comm);
  const mpi::Comm second = std::move(first);
  CHECK(first.empty());  // NOLINT: the state after a move is what is tested
  CHECK(mpi::sum(second, std::int64_t{1}) == comm.size());
}
