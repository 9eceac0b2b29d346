// SPDX-License-Identifier: BSD-3-Clause
#include "observe.h"

#include "pending.h"
#include "ranks.h"

_Thread_local int observe_depth;
int observe_on;

int64_t bytes_of(int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return count * (int64_t)size;
}

void note_sent(Kind kind, int64_t count, MPI_Datatype type, int to, MPI_Comm comm) {
  if (to == MPI_PROC_NULL) return;
  counts_add(kind, ranks_in_world(ranks_of_comm(comm), to), bytes_of(count, type));
}

void note_received(Kind kind, const MPI_Status* status, MPI_Comm comm) {
  if (status->MPI_SOURCE == MPI_PROC_NULL) return;
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
  counts_add(kind, ranks_in_world(ranks_of_comm(comm), status->MPI_SOURCE), (int64_t)bytes);
}

static Pending held(Kind kind, MPI_Comm comm) {
  Pending pending = {.kind = kind, .ranks = ranks_of_comm(comm)};
  ranks_hold(pending.ranks);
  return pending;
}

void note_receiving(Kind kind, int from, MPI_Comm comm, MPI_Request request) {
  if (from == MPI_PROC_NULL) return;
  Pending pending = held(kind, comm);
  pending.active = 1;
  pending_put((uintptr_t)request, pending);
}

void note_recv_init(Kind kind, MPI_Comm comm, MPI_Request request) {
  Pending pending = held(kind, comm);
  pending.persistent = 1;
  pending_put((uintptr_t)request, pending);
}

void note_send_init(Kind kind, int64_t count, MPI_Datatype type, int to, MPI_Comm comm, MPI_Request request) {
  if (to == MPI_PROC_NULL) return;
  Pending pending = held(kind, comm);
  pending.persistent = pending.sends = 1;
  pending.peer = ranks_in_world(pending.ranks, to);
  pending.bytes = bytes_of(count, type);
  pending_put((uintptr_t)request, pending);
}

void note_access(Kind kind, int64_t count, MPI_Datatype type, int target, MPI_Win window) {
  if (target == MPI_PROC_NULL) return;
  counts_add(kind, ranks_in_world(ranks_of_window(window), target), bytes_of(count, type));
}

void note_collective(Kind kind, int64_t bytes) {
  counts_add(kind, NO_PEER, bytes);
}
