// SPDX-License-Identifier: BSD-3-Clause
#include "base/system.hpp"
#include "mpi/scan.hpp"
#include "mpi_case.hpp"

using namespace tailrace;

namespace {

using Numbers = std::vector<std::int64_t>;

void wait_for(mpi::Scan& scan) {
  for (Backoff backoff; !scan.complete();) backoff.pause();
}

}  // namespace

MPI_CASE("ranks learn what those before them have, and all", ranks{1, 2, 3, 4, 7}) {
  mpi::Scan scan(comm);
  CHECK(!scan.pending());
  for (std::int64_t round = 1; round <= 3; ++round) {
    const std::int64_t rank = comm.rank(), ranks = comm.size();
    scan.start({rank * round, 1, -5'000'000'000});
    if (round == 2)
      scan.wait();
    else
      wait_for(scan);
    CHECK(!scan.pending());
    CHECK(scan.before() == Numbers{round * rank * (rank - 1) / 2, rank, -5'000'000'000 * rank});
    CHECK(scan.total() == Numbers{round * ranks * (ranks - 1) / 2, ranks, -5'000'000'000 * ranks});
  }
  scan.start({});
  scan.wait();
  CHECK(scan.before().empty());
}

MPI_CASE("nobody waits for a rank that has not handed in its numbers", ranks{2, 3}) {
  const auto other = mpi::Comm::duplicate(comm);
  mpi::Scan scan(comm);
  if (comm.is_root()) {
    scan.start({1});
    CHECK(!scan.complete());  // the others start only after the message below
    CHECK(scan.pending());
    mpi::broadcast(other, "continue", 0);
  } else {
    mpi::broadcast(other, std::string(), 0);
    scan.start({2});
  }
  wait_for(scan);
  CHECK(scan.total() == Numbers{2 * comm.size() - 1});
}
