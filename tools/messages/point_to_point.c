// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives from C.
#include "observe.h"
#include "pending.h"

#define SEND(Name, kind)                                                                                    \
  int MPI_##Name(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {          \
    OBSERVED(PMPI_##Name(data, count, type, to, tag, comm), note_sent(KIND_##kind, count, type, to, comm)); \
  }
SEND(Send, send)
SEND(Bsend, bsend)
SEND(Ssend, ssend)
SEND(Rsend, rsend)

#define ISEND(Name, kind, note)                                                                  \
  int MPI_##Name(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                 MPI_Request* request) {                                                         \
    OBSERVED(PMPI_##Name(data, count, type, to, tag, comm, request), note);                      \
  }
#define AT_ONCE(kind) note_sent(KIND_##kind, count, type, to, comm)
#define WHEN_STARTED(kind) note_send_init(KIND_##kind, count, type, to, comm, *request)
ISEND(Isend, isend, AT_ONCE(isend))
ISEND(Ibsend, ibsend, AT_ONCE(ibsend))
ISEND(Issend, issend, AT_ONCE(issend))
ISEND(Irsend, irsend, AT_ONCE(irsend))
ISEND(Send_init, send_init, WHEN_STARTED(send_init))
ISEND(Bsend_init, bsend_init, WHEN_STARTED(bsend_init))
ISEND(Ssend_init, ssend_init, WHEN_STARTED(ssend_init))
ISEND(Rsend_init, rsend_init, WHEN_STARTED(rsend_init))

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  OBSERVED(PMPI_Recv(data, count, type, from, tag, comm, status), note_received(KIND_recv, status, comm));
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  OBSERVED(PMPI_Irecv(data, count, type, from, tag, comm, request),
           note_receiving(KIND_irecv, from, comm, *request));
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  OBSERVED(PMPI_Recv_init(data, count, type, from, tag, comm, request),
           note_recv_init(KIND_recv_init, comm, *request));
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* into, int room,
                 MPI_Datatype room_type, int from, int from_tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  OBSERVED(PMPI_Sendrecv(data, count, type, to, tag, into, room, room_type, from, from_tag, comm, status), {
    note_sent(KIND_sendrecv, count, type, to, comm);
    note_received(KIND_recv_of_sendrecv, status, comm);
  });
}

int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int tag, int from, int from_tag,
                         MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  OBSERVED(PMPI_Sendrecv_replace(data, count, type, to, tag, from, from_tag, comm, status), {
    note_sent(KIND_sendrecv_replace, count, type, to, comm);
    note_received(KIND_recv_of_sendrecv_replace, status, comm);
  });
}

// A message that a probe has matched does not name its communicator: that is kept under the complement of its
// handle, which is the handle of no request.
static uintptr_t handle_of(MPI_Message message) {
  return ~(uintptr_t)message;
}

static void note_matched(MPI_Message message, MPI_Comm comm) {
  if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC) return;
  Pending pending = {.kind = KIND_mrecv, .ranks = ranks_of_comm(comm), .active = 1};
  ranks_hold(pending.ranks);
  pending_put(handle_of(message), pending);
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  OBSERVED(PMPI_Mprobe(from, tag, comm, message, status), note_matched(*message, comm));
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  OBSERVED(PMPI_Improbe(from, tag, comm, flag, message, status), if (*flag) note_matched(*message, comm));
}

int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  Pending matched;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int known = pending_take(handle_of(*message), &matched);
  OBSERVED(PMPI_Mrecv(data, count, type, message, status), {
    if (known) note_completed(matched, status);
  });
}

int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  Pending matched;
  const int known = pending_take(handle_of(*message), &matched);
  matched.kind = KIND_imrecv;
  OBSERVED(PMPI_Imrecv(data, count, type, message, request), {
    if (known) pending_put((uintptr_t)*request, matched);
  });
}
