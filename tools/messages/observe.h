// SPDX-License-Identifier: BSD-3-Clause
// How a call of the program is counted once, whatever MPI calls to carry it out.
#pragma once
#include <mpi.h>
#include <stdint.h>

#include "counts.h"

// How many of our entry points the calling thread is in. Only the outermost counts: the Fortran interface of
// an MPI may call the C interface, and MPI may call itself.
extern _Thread_local int observe_depth;

// 1 while calls are counted: after MPI_Init, and if the program has the MPI that this library was built with.
extern int observe_on;

// Calls MPI and, when that succeeded in the program's own call, carries out `note`. Returns from the entry
// point.
#define OBSERVED(call, note)                                         \
  do {                                                               \
    ++observe_depth;                                                 \
    const int code = (call);                                         \
    if (--observe_depth == 0 && observe_on && code == MPI_SUCCESS) { \
      note;                                                          \
    }                                                                \
    return code;                                                     \
  } while (0)

// Bytes of so many values of a type, without gaps.
int64_t bytes_of(int64_t count, MPI_Datatype type);

// Counts a message to a rank of the communicator; none for MPI_PROC_NULL.
void note_sent(Kind kind, int64_t count, MPI_Datatype type, int to, MPI_Comm comm);

// Counts a message that came, by its status.
void note_received(Kind kind, const MPI_Status* status, MPI_Comm comm);

// Keeps a receive that has begun until its completion is seen; none from MPI_PROC_NULL, whose request may be
// shared.
void note_receiving(Kind kind, int from, MPI_Comm comm, MPI_Request request);

// Keeps a request that the program is going to start, of a message to that rank.
void note_send_init(Kind kind, int64_t count, MPI_Datatype type, int to, MPI_Comm comm, MPI_Request request);

// Keeps a request that the program is going to start, of a receive.
void note_recv_init(Kind kind, MPI_Comm comm, MPI_Request request);

// Counts an access to memory of a rank of the window.
void note_access(Kind kind, int64_t count, MPI_Datatype type, int target, MPI_Win window);

// Counts this rank's part in a collective call.
void note_collective(Kind kind, int64_t bytes);
