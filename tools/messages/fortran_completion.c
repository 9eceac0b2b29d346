// SPDX-License-Identifier: BSD-3-Clause
// Starts and completions of requests, and messages that probes have matched, from Fortran: next to nothing
// but handles and statuses, so they are handed to the entry points of C.
#include <stdlib.h>

#include "fortran.h"

// Requests and statuses of a call, as C has them.
typedef struct {
  int count;
  F* theirs;
  MPI_Request* requests;
  MPI_Status* statuses;
} Converted;

static Converted converted(int count, F* theirs) {
  const size_t n = count > 0 ? (size_t)count : 0;
  Converted all = {(int)n, theirs, calloc(n + 1, sizeof(MPI_Request)), calloc(n + 1, sizeof(MPI_Status))};
  if (all.requests == NULL || all.statuses == NULL) abort();
  for (int i = 0; i < all.count; ++i) all.requests[i] = MPI_Request_f2c(theirs[i]);
  return all;
}

static void put_status(const MPI_Status* status, F* theirs) {
  if (theirs != MPI_F_STATUS_IGNORE && theirs != MPI_F_STATUSES_IGNORE) MPI_Status_c2f(status, theirs);
}

static void put_statuses(const Converted* all, int count, F* theirs) {
  if (theirs == MPI_F_STATUSES_IGNORE) return;
  for (int i = 0; i < count; ++i)
    MPI_Status_c2f(&all->statuses[i], theirs + i * (int)(sizeof(MPI_Status) / sizeof(F)));
}

static void give_back(Converted* all) {
  for (int i = 0; i < all->count; ++i) all->theirs[i] = MPI_Request_c2f(all->requests[i]);
  free(all->requests);
  free(all->statuses);
}

static void put_error(int code, F* error) {
  if (error != NULL) *error = code;
}

// Indices count from 1.
static F fortran_index(int index) {
  return index == MPI_UNDEFINED ? index : index + 1;
}

// One entry point for each of the two interfaces.
#define BOTH(name, parameters, names)            \
  void mpi_##name##_(parameters, F* error) {     \
    name(names, error);                          \
  }                                              \
  void mpi_##name##_f08_(parameters, F* error) { \
    name(names, error);                          \
  }

static void wait(F* request, F* status, F* error) {
  Converted all = converted(1, request);
  put_error(MPI_Wait(all.requests, all.statuses), error);
  put_status(all.statuses, status);
  give_back(&all);
}
BOTH(wait, LIST(F* request, F* status), LIST(request, status))

static void test(F* request, F* flag, F* status, F* error) {
  Converted all = converted(1, request);
  int done = 0;
  put_error(MPI_Test(all.requests, &done, all.statuses), error);
  *flag = done;
  if (done) put_status(all.statuses, status);
  give_back(&all);
}
BOTH(test, LIST(F* request, F* flag, F* status), LIST(request, flag, status))

static void waitall(F* count, F* requests, F* statuses, F* error) {
  Converted all = converted(*count, requests);
  put_error(MPI_Waitall(*count, all.requests, all.statuses), error);
  put_statuses(&all, *count, statuses);
  give_back(&all);
}
BOTH(waitall, LIST(F* count, F* requests, F* statuses), LIST(count, requests, statuses))

static void testall(F* count, F* requests, F* flag, F* statuses, F* error) {
  Converted all = converted(*count, requests);
  int done = 0;
  put_error(MPI_Testall(*count, all.requests, &done, all.statuses), error);
  *flag = done;
  if (done) put_statuses(&all, *count, statuses);
  give_back(&all);
}
BOTH(testall, LIST(F* count, F* requests, F* flag, F* statuses), LIST(count, requests, flag, statuses))

static void waitany(F* count, F* requests, F* index, F* status, F* error) {
  Converted all = converted(*count, requests);
  int found = MPI_UNDEFINED;
  put_error(MPI_Waitany(*count, all.requests, &found, all.statuses), error);
  *index = fortran_index(found);
  put_status(all.statuses, status);
  give_back(&all);
}
BOTH(waitany, LIST(F* count, F* requests, F* index, F* status), LIST(count, requests, index, status))

static void testany(F* count, F* requests, F* index, F* flag, F* status, F* error) {
  Converted all = converted(*count, requests);
  int found = MPI_UNDEFINED, done = 0;
  put_error(MPI_Testany(*count, all.requests, &found, &done, all.statuses), error);
  *index = fortran_index(found);
  *flag = done;
  if (done) put_status(all.statuses, status);
  give_back(&all);
}
BOTH(testany, LIST(F* count, F* requests, F* index, F* flag, F* status),
     LIST(count, requests, index, flag, status))

#define SOME(name, Name)                                                                \
  static void name(F* count, F* requests, F* done, F* indices, F* statuses, F* error) { \
    Converted all = converted(*count, requests);                                        \
    put_error(MPI_##Name(*count, all.requests, done, indices, all.statuses), error);    \
    const int found = *done == MPI_UNDEFINED ? 0 : *done;                               \
    for (int i = 0; i < found; ++i) indices[i] = fortran_index(indices[i]);             \
    put_statuses(&all, found, statuses);                                                \
    give_back(&all);                                                                    \
  }                                                                                     \
  BOTH(name, LIST(F* count, F* requests, F* done, F* indices, F* statuses),             \
       LIST(count, requests, done, indices, statuses))
SOME(waitsome, Waitsome)
SOME(testsome, Testsome)

static void start(F* request, F* error) {
  Converted all = converted(1, request);
  put_error(MPI_Start(all.requests), error);
  give_back(&all);
}
BOTH(start, LIST(F* request), LIST(request))

static void startall(F* count, F* requests, F* error) {
  Converted all = converted(*count, requests);
  put_error(MPI_Startall(*count, all.requests), error);
  give_back(&all);
}
BOTH(startall, LIST(F* count, F* requests), LIST(count, requests))

static void request_free(F* request, F* error) {
  Converted all = converted(1, request);
  put_error(MPI_Request_free(all.requests), error);
  give_back(&all);
}
BOTH(request_free, LIST(F* request), LIST(request))

// Matched messages. The buffer may be MPI_BOTTOM, which is another address in Fortran.
extern int mpi_fortran_bottom_;
static void* buffer(void* data) {
  return data == &mpi_fortran_bottom_ ? MPI_BOTTOM : data;
}

static void mprobe(F* from, F* tag, F* comm, F* message, F* status, F* error) {
  MPI_Status seen;
  MPI_Message matched = MPI_MESSAGE_NULL;
  put_error(MPI_Mprobe(*from, *tag, COMM(comm), &matched, &seen), error);
  *message = MPI_Message_c2f(matched);
  put_status(&seen, status);
}
BOTH(mprobe, LIST(F* from, F* tag, F* comm, F* message, F* status), LIST(from, tag, comm, message, status))

static void improbe(F* from, F* tag, F* comm, F* flag, F* message, F* status, F* error) {
  MPI_Status seen;
  MPI_Message matched = MPI_MESSAGE_NULL;
  int found = 0;
  put_error(MPI_Improbe(*from, *tag, COMM(comm), &found, &matched, &seen), error);
  *flag = found;
  if (!found) return;
  *message = MPI_Message_c2f(matched);
  put_status(&seen, status);
}
BOTH(improbe, LIST(F* from, F* tag, F* comm, F* flag, F* message, F* status),
     LIST(from, tag, comm, flag, message, status))

static void mrecv(void* data, F* count, F* type, F* message, F* status, F* error) {
  MPI_Status seen;
  MPI_Message matched = MPI_Message_f2c(*message);
  put_error(MPI_Mrecv(buffer(data), *count, TYPE(type), &matched, &seen), error);
  *message = MPI_Message_c2f(matched);
  put_status(&seen, status);
}
BOTH(mrecv, LIST(void* data, F* count, F* type, F* message, F* status),
     LIST(data, count, type, message, status))

static void imrecv(void* data, F* count, F* type, F* message, F* request, F* error) {
  MPI_Request begun = MPI_REQUEST_NULL;
  MPI_Message matched = MPI_Message_f2c(*message);
  put_error(MPI_Imrecv(buffer(data), *count, TYPE(type), &matched, &begun), error);
  *message = MPI_Message_c2f(matched);
  *request = MPI_Request_c2f(begun);
}
BOTH(imrecv, LIST(void* data, F* count, F* type, F* message, F* request),
     LIST(data, count, type, message, request))
