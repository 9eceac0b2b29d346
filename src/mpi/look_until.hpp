// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include "base/system.hpp"

namespace tailrace::mpi {

/// Calls `look` until it returns true, or returns false after `limit_s` seconds. Leaves the core to writers
/// and to other ranks on the same core.
template <class Look>
bool look_until(Look look, double limit_s) {
  // Most waits inside a step end within microseconds. MPI moves a long message only while somebody looks
  // (MPICH 256 KiB per look): so look on for a while, giving the core away in between, before sleeping.
  constexpr int looks_before_yield = 200, looks_per_clock = 8;  // what is there at once costs no clock
  constexpr double yield_s = 5e-3;
  Backoff backoff;
  double start_s = 0;
  for (int looks = 0;; ++looks) {
    if (look()) return true;
    if (looks < looks_before_yield && looks % looks_per_clock != looks_per_clock - 1) continue;
    const double now = monotonic_s();
    if (start_s == 0) start_s = now;
    if (now - start_s > limit_s) return false;
    if (now - start_s >= yield_s)  // also where MPI gives the core away in each look, to a busy machine
      backoff.pause();
    else if (looks >= looks_before_yield)
      sched_yield();
  }
}

}  // namespace tailrace::mpi
