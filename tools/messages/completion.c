// SPDX-License-Identifier: BSD-3-Clause
// Starts and completions of requests from C. What is watched of them is taken out before MPI is asked, since
// another thread may get the same handle as soon as a request has completed, and put back if it has not.
#include <stdlib.h>

#include "observe.h"
#include "pending.h"

static void end(Pending pending) {
  ranks_release(pending.ranks);
}

void note_completed(Pending pending, const MPI_Status* status) {
  int cancelled = 0;
  PMPI_Test_cancelled(status, &cancelled);
  if (cancelled) {
    counts_add_unseen();
  } else if (status->MPI_SOURCE != MPI_PROC_NULL) {
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    counts_add(pending.kind, ranks_in_world(pending.ranks, status->MPI_SOURCE), (int64_t)bytes);
  }
  if (!pending.persistent) end(pending);
}

// Several requests that MPI is asked about together.
typedef struct {
  int count;
  uintptr_t* handles;
  Pending* pending;
  char* watched;
  MPI_Status* statuses;  // ours, where the program wants none
} Batch;

static int batch_begin(Batch* batch, int count, const MPI_Request* requests, MPI_Status* statuses) {
  const size_t n = (size_t)count;
  *batch = (Batch){count, calloc(n + 1, sizeof(uintptr_t)), calloc(n + 1, sizeof(Pending)), calloc(n + 1, 1),
                   calloc(statuses == NULL ? n + 1 : 1, sizeof(MPI_Status))};
  if (batch->handles == NULL || batch->pending == NULL || batch->watched == NULL || batch->statuses == NULL) {
    batch->count = 0;
    return 0;
  }
  for (int i = 0; i < count; ++i) {
    batch->handles[i] = (uintptr_t)requests[i];
    batch->watched[i] =
        requests[i] != MPI_REQUEST_NULL && pending_take(batch->handles[i], &batch->pending[i]);
  }
  return 1;
}

static void batch_complete(Batch* batch, int i, const MPI_Status* status) {
  Pending* pending = &batch->pending[i];
  if (!batch->watched[i]) return;
  if (pending->active && !pending->sends) note_completed(*pending, status);
  pending->active = 0;
  if (pending->persistent) pending_put(batch->handles[i], *pending);
  batch->watched[i] = 0;
}

// A request that failed: whether anything was received is not known.
static void batch_fail(Batch* batch, int i) {
  if (!batch->watched[i]) return;
  counts_add_unseen();
  end(batch->pending[i]);
  batch->watched[i] = 0;
}

// Puts back what has not completed.
static void batch_end(Batch* batch) {
  for (int i = 0; i < batch->count; ++i) {
    if (batch->watched[i]) pending_put(batch->handles[i], batch->pending[i]);
  }
  free(batch->handles);
  free(batch->pending);
  free(batch->watched);
  free(batch->statuses);
}

static int all_done(Batch* batch, int code, const MPI_Status* statuses) {
  for (int i = 0; i < batch->count; ++i) {
    if (code == MPI_SUCCESS || (code == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR == MPI_SUCCESS)) {
      batch_complete(batch, i, &statuses[i]);
    } else if (code != MPI_ERR_IN_STATUS || statuses[i].MPI_ERROR != MPI_ERR_PENDING) {
      batch_fail(batch, i);
    }
  }
  batch_end(batch);
  return code;
}

// Whether the completion of requests may be of interest.
static int watching(void) {
  const int pending = atomic_load_explicit(&pending_count, memory_order_relaxed);
  return pending > 0 && observe_on && observe_depth == 0;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Batch batch;
  if (!watching()) return PMPI_Wait(request, status);
  if (!batch_begin(&batch, 1, request, NULL)) return batch_end(&batch), PMPI_Wait(request, status);
  if (status == MPI_STATUS_IGNORE) status = batch.statuses;
  const int code = PMPI_Wait(request, status);
  code == MPI_SUCCESS ? batch_complete(&batch, 0, status) : batch_fail(&batch, 0);
  batch_end(&batch);
  return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Batch batch;
  if (!watching()) return PMPI_Test(request, flag, status);
  if (!batch_begin(&batch, 1, request, NULL)) return batch_end(&batch), PMPI_Test(request, flag, status);
  if (status == MPI_STATUS_IGNORE) status = batch.statuses;
  const int code = PMPI_Test(request, flag, status);
  if (code != MPI_SUCCESS) batch_fail(&batch, 0);
  if (code == MPI_SUCCESS && *flag) batch_complete(&batch, 0, status);
  batch_end(&batch);
  return code;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Batch batch;
  MPI_Status* theirs = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
  if (!watching()) return PMPI_Waitall(count, requests, statuses);
  if (!batch_begin(&batch, count, requests, theirs)) {
    return batch_end(&batch), PMPI_Waitall(count, requests, statuses);
  }
  if (theirs == NULL) theirs = batch.statuses;
  return all_done(&batch, PMPI_Waitall(count, requests, theirs), theirs);
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Batch batch;
  MPI_Status* theirs = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
  if (!watching()) return PMPI_Testall(count, requests, flag, statuses);
  if (!batch_begin(&batch, count, requests, theirs)) {
    return batch_end(&batch), PMPI_Testall(count, requests, flag, statuses);
  }
  if (theirs == NULL) theirs = batch.statuses;
  const int code = PMPI_Testall(count, requests, flag, theirs);
  if (code != MPI_SUCCESS || *flag) return all_done(&batch, code, theirs);
  batch_end(&batch);
  return code;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Batch batch;
  if (!watching()) return PMPI_Waitany(count, requests, index, status);
  if (!batch_begin(&batch, count, requests, NULL)) {
    return batch_end(&batch), PMPI_Waitany(count, requests, index, status);
  }
  if (status == MPI_STATUS_IGNORE) status = batch.statuses;
  const int code = PMPI_Waitany(count, requests, index, status);
  if (*index != MPI_UNDEFINED) {
    code == MPI_SUCCESS ? batch_complete(&batch, *index, status) : batch_fail(&batch, *index);
  }
  batch_end(&batch);
  return code;
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Batch batch;
  if (!watching()) return PMPI_Testany(count, requests, index, flag, status);
  if (!batch_begin(&batch, count, requests, NULL)) {
    return batch_end(&batch), PMPI_Testany(count, requests, index, flag, status);
  }
  if (status == MPI_STATUS_IGNORE) status = batch.statuses;
  const int code = PMPI_Testany(count, requests, index, flag, status);
  if (*index != MPI_UNDEFINED) {
    if (code != MPI_SUCCESS) batch_fail(&batch, *index);
    if (code == MPI_SUCCESS && *flag) batch_complete(&batch, *index, status);
  }
  batch_end(&batch);
  return code;
}

static int some_done(Batch* batch, int code, const int* done, const int* indices,
                     const MPI_Status* statuses) {
  for (int i = 0; *done != MPI_UNDEFINED && i < *done; ++i) {
    if (code == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_SUCCESS) {
      batch_complete(batch, indices[i], &statuses[i]);
    } else {
      batch_fail(batch, indices[i]);
    }
  }
  batch_end(batch);
  return code;
}

#define SOME(Name)                                                                                  \
  int MPI_##Name(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) { \
    Batch batch;                                                                                    \
    MPI_Status* theirs = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;                         \
    if (!watching()) return PMPI_##Name(count, requests, done, indices, statuses);                  \
    if (!batch_begin(&batch, count, requests, theirs)) {                                            \
      return batch_end(&batch), PMPI_##Name(count, requests, done, indices, statuses);              \
    }                                                                                               \
    if (theirs == NULL) theirs = batch.statuses;                                                    \
    const int code = PMPI_##Name(count, requests, done, indices, theirs);                           \
    return some_done(&batch, code, done, indices, theirs);                                          \
  }
SOME(Waitsome)
SOME(Testsome)

static void note_started(MPI_Request request) {
  Pending pending;
  if (!pending_take((uintptr_t)request, &pending)) return;
  pending.active = 1;
  if (pending.sends) counts_add(pending.kind, pending.peer, pending.bytes);
  pending_put((uintptr_t)request, pending);
}

int MPI_Start(MPI_Request* request) {
  OBSERVED(PMPI_Start(request), note_started(*request));
}

int MPI_Startall(int count, MPI_Request* requests) {
  OBSERVED(PMPI_Startall(count, requests), {
    for (int i = 0; i < count; ++i) note_started(requests[i]);
  });
}

int MPI_Request_free(MPI_Request* request) {
  Pending pending;
  if (watching() && pending_take((uintptr_t)*request, &pending)) {
    if (pending.active && !pending.sends) counts_add_unseen();
    end(pending);
  }
  return PMPI_Request_free(request);
}
