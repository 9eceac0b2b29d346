// SPDX-License-Identifier: BSD-3-Clause
// A program that was compiled with the header of another MPI library than Tailrace was built with does not
// link.
#include "tailrace/comm.hpp"

int main() {
  const tailrace::mpi::CommHandle comm(static_cast<OTHER_MPI_COMM>(0));
  return comm.empty() ? 0 : 1;
}
