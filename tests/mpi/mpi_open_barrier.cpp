// SPDX-License-Identifier: BSD-3-Clause
#include "base/system.hpp"
#include "mpi/open_barrier.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

MPI_CASE("a barrier opens when all have entered, again and again", ranks{1, 2, 3, 4, 7}) {
  mpi::OpenBarrier barrier(comm);
  for (int round = 0; round < 5; ++round) {
    CHECK(!barrier.entered());
    barrier.enter();
    CHECK_THROWS_AS(barrier.enter(), Error);
    if (round % 2 == 0)
      barrier.wait();
    else
      for (Backoff backoff; !barrier.opens();) backoff.pause();
    CHECK(!barrier.entered());
  }
}

MPI_CASE("a barrier does not open before the last has entered, and nobody waits in it", ranks{2, 3}) {
  const auto other = mpi::Comm::duplicate(comm);
  mpi::OpenBarrier barrier(comm);
  if (comm.is_root()) {
    barrier.enter();
    CHECK(!barrier.opens());  // the others enter only after the message below
    mpi::broadcast(other, "continue", 0);
  } else {
    mpi::broadcast(other, std::string(), 0);
    barrier.enter();
  }
  barrier.wait();
}
