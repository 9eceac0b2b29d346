// SPDX-License-Identifier: BSD-3-Clause
// Begin and end, messages and accesses from Fortran.
#define _GNU_SOURCE
#include "fortran.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "life.h"

void* fortran_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != NULL) return found;
  fprintf(stderr, "tailrace: %s: not in the program's MPI library\n", name);
  abort();
}

// Begin and end.
#define BEGIN(symbol)                                           \
  void symbol(F* error) {                                       \
    static void (*next)(F*);                                    \
    if (next == NULL) *(void**)&next = fortran_next(#symbol);   \
    ++observe_depth;                                            \
    next(error);                                                \
    if (--observe_depth == 0 && succeeded(error)) life_begin(); \
  }
BEGIN(mpi_init_)
BEGIN(mpi_init_f08_)
#define BEGIN_THREAD(symbol)                                    \
  void symbol(F* required, F* provided, F* error) {             \
    static void (*next)(F*, F*, F*);                            \
    if (next == NULL) *(void**)&next = fortran_next(#symbol);   \
    ++observe_depth;                                            \
    next(required, provided, error);                            \
    if (--observe_depth == 0 && succeeded(error)) life_begin(); \
  }
BEGIN_THREAD(mpi_init_thread_)
BEGIN_THREAD(mpi_init_thread_f08_)
#define END(symbol)                                           \
  void symbol(F* error) {                                     \
    static void (*next)(F*);                                  \
    if (next == NULL) *(void**)&next = fortran_next(#symbol); \
    life_end();                                               \
    next(error);                                              \
  }
END(mpi_finalize_)
END(mpi_finalize_f08_)

// Sends.
#define SENDING LIST(void* data, F* count, F* type, F* to, F* tag, F* comm)
#define SENT_NAMES LIST(data, count, type, to, tag, comm)
#define SEND(kind) \
  FORTRAN(kind, LIST(SENDING), LIST(SENT_NAMES), note_sent(KIND_##kind, *count, TYPE(type), *to, COMM(comm)))
SEND(send)
SEND(bsend)
SEND(ssend)
SEND(rsend)
#define ISEND(kind)                                                   \
  FORTRAN(kind, LIST(SENDING, F* request), LIST(SENT_NAMES, request), \
          note_sent(KIND_##kind, *count, TYPE(type), *to, COMM(comm)))
ISEND(isend)
ISEND(ibsend)
ISEND(issend)
ISEND(irsend)
#define SEND_INIT(kind)                                               \
  FORTRAN(kind, LIST(SENDING, F* request), LIST(SENT_NAMES, request), \
          note_send_init(KIND_##kind, *count, TYPE(type), *to, COMM(comm), REQUEST(request)))
SEND_INIT(send_init)
SEND_INIT(bsend_init)
SEND_INIT(ssend_init)
SEND_INIT(rsend_init)

// Receives.
FORTRAN(irecv, LIST(void* data, F* count, F* type, F* from, F* tag, F* comm, F* request),
        LIST(data, count, type, from, tag, comm, request),
        note_receiving(KIND_irecv, *from, COMM(comm), REQUEST(request)))
FORTRAN(recv_init, LIST(void* data, F* count, F* type, F* from, F* tag, F* comm, F* request),
        LIST(data, count, type, from, tag, comm, request),
        note_recv_init(KIND_recv_init, COMM(comm), REQUEST(request)))

// A status of the program's, or one of ours that MPI is given in its place.
enum { STATUS_WORDS = sizeof(MPI_Status) / sizeof(F) };
#define OWN_STATUS(symbol, names)                  \
  F own[STATUS_WORDS];                             \
  if (status == MPI_F_STATUS_IGNORE) status = own; \
  ++observe_depth;                                 \
  next(names, status, error);                      \
  MPI_Status seen;                                 \
  MPI_Status_f2c(status, &seen);

#define RECEIVING_ENTRY(symbol, parameters, names, note)          \
  void symbol(parameters, F* status, F* error) {                  \
    static void (*next)(parameters, F*, F*);                      \
    if (next == NULL) *(void**)&next = fortran_next(#symbol);     \
    OWN_STATUS(symbol, LIST(names))                               \
    if (--observe_depth == 0 && observe_on && succeeded(error)) { \
      note;                                                       \
    }                                                             \
  }
#define RECEIVING(name, parameters, names, note)                      \
  RECEIVING_ENTRY(mpi_##name##_, LIST(parameters), LIST(names), note) \
  RECEIVING_ENTRY(mpi_##name##_f08_, LIST(parameters), LIST(names), note)

RECEIVING(recv, LIST(void* data, F* count, F* type, F* from, F* tag, F* comm),
          LIST(data, count, type, from, tag, comm), note_received(KIND_recv, &seen, COMM(comm)))
RECEIVING(sendrecv,
          LIST(void* data, F* count, F* type, F* to, F* tag, void* into, F* room, F* room_type, F* from,
               F* from_tag, F* comm),
          LIST(data, count, type, to, tag, into, room, room_type, from, from_tag, comm), {
            note_sent(KIND_sendrecv, *count, TYPE(type), *to, COMM(comm));
            note_received(KIND_recv_of_sendrecv, &seen, COMM(comm));
          })
RECEIVING(sendrecv_replace, LIST(void* data, F* count, F* type, F* to, F* tag, F* from, F* from_tag, F* comm),
          LIST(data, count, type, to, tag, from, from_tag, comm), {
            note_sent(KIND_sendrecv_replace, *count, TYPE(type), *to, COMM(comm));
            note_received(KIND_recv_of_sendrecv_replace, &seen, COMM(comm));
          })

// Accesses to windows.
#define TARGET LIST(F* target, MPI_Aint* place, F* target_count, F* target_type)
#define TARGET_NAMES LIST(target, place, target_count, target_type)
#define ACCESS(kind) note_access(KIND_##kind, *target_count, TYPE(target_type), *target, WINDOW(window))
#define ONE_WAY(kind)                                                                  \
  FORTRAN(kind, LIST(void* data, F* count, F* type, TARGET, F* window),                \
          LIST(data, count, type, TARGET_NAMES, window), ACCESS(kind))                 \
  FORTRAN(r##kind, LIST(void* data, F* count, F* type, TARGET, F* window, F* request), \
          LIST(data, count, type, TARGET_NAMES, window, request), ACCESS(r##kind))
ONE_WAY(put)
ONE_WAY(get)
#define WITH_OPERATION(kind, parameters, names)                                                    \
  FORTRAN(kind, LIST(parameters, TARGET, F* op, F* window), LIST(names, TARGET_NAMES, op, window), \
          ACCESS(kind))                                                                            \
  FORTRAN(r##kind, LIST(parameters, TARGET, F* op, F* window, F* request),                         \
          LIST(names, TARGET_NAMES, op, window, request), ACCESS(r##kind))
WITH_OPERATION(accumulate, LIST(void* data, F* count, F* type), LIST(data, count, type))
WITH_OPERATION(get_accumulate,
               LIST(void* data, F* count, F* type, void* result, F* result_count, F* result_type),
               LIST(data, count, type, result, result_count, result_type))
FORTRAN(fetch_and_op, LIST(void* data, void* result, F* type, F* target, MPI_Aint* place, F* op, F* window),
        LIST(data, result, type, target, place, op, window),
        note_access(KIND_fetch_and_op, 1, TYPE(type), *target, WINDOW(window)))
FORTRAN(compare_and_swap,
        LIST(void* data, void* expected, void* result, F* type, F* target, MPI_Aint* place, F* window),
        LIST(data, expected, result, type, target, place, window),
        note_access(KIND_compare_and_swap, 1, TYPE(type), *target, WINDOW(window)))
