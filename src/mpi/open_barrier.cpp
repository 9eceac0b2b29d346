// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/open_barrier.hpp"

#include "base/check.hpp"
#include "mpi/native.hpp"

namespace tailrace::mpi {

OpenBarrier::~OpenBarrier() {
  // Only while an error ends the program: others may never enter, so nobody waits and nothing is freed.
  if (request_ != Request::none) static_cast<void>(comm_.release());
}

void OpenBarrier::enter() {
  TAILRACE_CHECK(request_ == Request::none, "a barrier is entered once");
  check(MPI_Ibarrier(comm_->view().get(), Lent(request_)), "MPI_Ibarrier");
}

bool OpenBarrier::opens() {
  return test_all({&request_, 1});
}

void OpenBarrier::wait() {
  wait_all({&request_, 1});
}

}  // namespace tailrace::mpi
