// SPDX-License-Identifier: BSD-3-Clause
// Requests whose completion is to be counted: receives, and requests that are started again and again.
#pragma once
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "counts.h"
#include "ranks.h"

typedef struct {
  Kind kind;
  Ranks* ranks;    // of the communicator, whose ranks a status names; held
  int persistent;  // stays after it has completed
  int active;      // has been started
  int sends;       // counts when it is started, with peer and bytes; else when it completes
  int peer;
  int64_t bytes;
} Pending;

// How many requests are watched: with none, completions cost nothing. Threads change it while others look.
extern atomic_int pending_count;

// Keeps what a request, or a message that a probe matched, stands for, until it is taken out.
void pending_put(uintptr_t handle, Pending pending);

// Takes it out; 0 when it is not there.
int pending_take(uintptr_t handle, Pending* taken);

// Counts a receive that has completed, by its status, and lets go of it unless it is persistent.
void note_completed(Pending pending, const MPI_Status* status);
