// SPDX-License-Identifier: BSD-3-Clause
// Cases that go wrong, to see that the harness says so. Each is run alone by tests/support/CMakeLists.txt.
#include <stdexcept>

#include "base/system.hpp"
#include "mpi_case.hpp"

using namespace tailrace;

MPI_CASE("passes everywhere", ranks{1, 2, 3}) {
  CHECK(mpi::sum(comm, std::int64_t{1}) == comm.size());
}

MPI_CASE("one rank fails", ranks{1, 3}) {
  CHECK(comm.rank() != 2);
}

MPI_CASE("one rank throws", ranks{2}) {
  if (comm.rank() == 1) throw std::runtime_error("thrown on purpose");
}

MPI_CASE("one rank misses a requirement", ranks{2}) {
  REQUIRE_MESSAGE(comm.rank() == 0, "required on purpose");
}

MPI_CASE("one rank waits for ever", ranks{3}) {
  if (comm.rank() == 1) mpi::barrier(comm);
}

MPI_CASE("fits nowhere", ranks{100}) {}
