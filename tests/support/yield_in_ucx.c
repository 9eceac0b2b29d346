/* SPDX-License-Identifier: BSD-3-Clause
 * Preloaded into the tests of an MPI that spins in UCX while it waits (MPICH): a rank that finds no progress
 * gives its core away, so that more ranks than cores do not wait for whole time slices of each other. Open
 * MPI does so by itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*progress_function)(void*);

unsigned ucp_worker_progress(void* worker) {
  static progress_function real;
  if (!real) real = (progress_function)dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned advanced = real(worker);
  if (advanced == 0) sched_yield();
  return advanced;
}
