// SPDX-License-Identifier: BSD-3-Clause
// Messages by every call that the profiler counts, each with a size of its own, so that test_messages.py can
// say by hand what must be counted. In a ring of three ranks: everybody sends to the next.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096, TAG = 7 };
static char out[ROOM], in[ROOM], attached[1 << 16];
static int rank, size, next, before;
static MPI_Comm world;

static MPI_Request expect(int bytes) {
  MPI_Request request;
  MPI_Irecv(in, bytes + 100, MPI_BYTE, before, TAG, world, &request);  // more room than is sent
  return request;
}

static void blocking(void) {
  MPI_Send(out, 10, MPI_BYTE, next, TAG, world);
  MPI_Recv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, TAG, world, MPI_STATUS_IGNORE);
  MPI_Bsend(out, 11, MPI_BYTE, next, TAG, world);
  MPI_Recv(in, ROOM, MPI_BYTE, before, TAG, world, MPI_STATUS_IGNORE);
  MPI_Request request = expect(12);
  MPI_Ssend(out, 12, MPI_BYTE, next, TAG, world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  request = expect(13);
  MPI_Barrier(world);
  MPI_Rsend(out, 13, MPI_BYTE, next, TAG, world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 22, MPI_BYTE, next, TAG, in, ROOM, MPI_BYTE, before, TAG, world, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(out, 23, MPI_BYTE, next, TAG, before, TAG, world, MPI_STATUS_IGNORE);
  MPI_Send(out, 99, MPI_BYTE, MPI_PROC_NULL, TAG, world);
  MPI_Recv(in, 99, MPI_BYTE, MPI_PROC_NULL, TAG, world, MPI_STATUS_IGNORE);
}

typedef int (*Isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void at_once(void) {
  MPI_Request requests[2];
  const Isend calls[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
  for (int i = 0; i < 4; ++i) {
    requests[0] = expect(14 + i);
    MPI_Barrier(world);
    calls[i](out, 14 + i, MPI_BYTE, next, TAG, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void again_and_again(void) {
  MPI_Request requests[2];
  const Isend calls[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
  for (int i = 0; i < 4; ++i) {
    MPI_Recv_init(in, ROOM, MPI_BYTE, before, TAG, world, &requests[0]);
    calls[i](out, 18 + i, MPI_BYTE, next, TAG, world, &requests[1]);
    for (int k = 0; k < 3; ++k) {
      MPI_Start(&requests[0]);
      MPI_Barrier(world);
      MPI_Startall(1, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
}

static void matched(void) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int found = 0;
  MPI_Send(out, 24, MPI_BYTE, next, TAG, world);
  MPI_Mprobe(MPI_ANY_SOURCE, TAG, world, &message, &status);
  MPI_Mrecv(in, ROOM, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  MPI_Send(out, 25, MPI_BYTE, next, TAG, world);
  while (!found) MPI_Improbe(before, TAG, world, &found, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(in, ROOM, MPI_BYTE, &message, &request);
  MPI_Wait(&request, &status);
}

static void all_completions(void) {
  MPI_Request requests[2];
  int index = -1, done = 0, indices[2];
  requests[0] = MPI_REQUEST_NULL;
  requests[1] = expect(26);
  MPI_Send(out, 26, MPI_BYTE, next, TAG, world);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  requests[0] = expect(27);
  MPI_Send(out, 27, MPI_BYTE, next, TAG, world);
  while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  requests[1] = expect(28);
  MPI_Send(out, 28, MPI_BYTE, next, TAG, world);
  MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  requests[1] = expect(29);
  MPI_Send(out, 29, MPI_BYTE, next, TAG, world);
  do MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  while (done < 1);
  requests[0] = expect(30);
  MPI_Send(out, 30, MPI_BYTE, next, TAG, world);
  for (done = 0; !done;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  requests[0] = expect(31);
  MPI_Send(out, 31, MPI_BYTE, next, TAG, world);
  for (done = 0; !done;) MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
}

// Nobody sends what is cancelled. Among others the ranks have other numbers.
static void special(void) {
  MPI_Request request;
  MPI_Comm reversed;
  MPI_Irecv(in, 1, MPI_BYTE, before, TAG + 1, world, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_split(world, 0, -rank, &reversed);
  MPI_Irecv(in, ROOM, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, reversed, &request);
  const int there = size - 1 - next;
  MPI_Send(out, 4, MPI_DOUBLE, there, TAG, reversed);
  MPI_Comm_free(&reversed);  // before the receive has completed
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void accesses(void) {
  double *memory, value = 1, result[8];
  int number = 1, expected = 0, found;
  MPI_Win window;
  MPI_Request request;
  MPI_Win_allocate(ROOM * sizeof(double), sizeof(double), MPI_INFO_NULL, world, &memory, &window);
  memset(memory, 0, ROOM * sizeof(double));
  MPI_Win_lock_all(0, window);
  MPI_Put(&value, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, window);
  MPI_Get(result, 2, MPI_DOUBLE, next, 8, 2, MPI_DOUBLE, window);
  MPI_Accumulate(result, 3, MPI_DOUBLE, next, 16, 3, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_flush_all(window);
  MPI_Get_accumulate(result, 4, MPI_DOUBLE, result + 4, 4, MPI_DOUBLE, next, 24, 4, MPI_DOUBLE, MPI_SUM,
                     window);
  MPI_Win_flush_all(window);
  MPI_Fetch_and_op(&value, result, MPI_DOUBLE, next, 32, MPI_SUM, window);
  MPI_Compare_and_swap(&number, &expected, &found, MPI_INT, next, 40, window);
  MPI_Win_flush_all(window);
  MPI_Rput(result, 5, MPI_DOUBLE, next, 48, 5, MPI_DOUBLE, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Rget(result, 6, MPI_DOUBLE, next, 56, 6, MPI_DOUBLE, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Raccumulate(result, 7, MPI_DOUBLE, next, 64, 7, MPI_DOUBLE, MPI_SUM, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Rget_accumulate(result, 2, MPI_DOUBLE, result + 4, 2, MPI_DOUBLE, next, 72, 2, MPI_DOUBLE, MPI_SUM,
                      window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static const int COUNTS[] = {1, 2, 3}, PLACES[] = {0, 1, 3};

#define DONE MPI_Wait(&request, MPI_STATUS_IGNORE)

static void from_and_to_one(void) {
  MPI_Request request;
  MPI_Ibarrier(world, &request), DONE;
  MPI_Bcast(in, 2, MPI_INT, 0, world);
  MPI_Ibcast(in, 3, MPI_INT, 0, world, &request), DONE;
  MPI_Gather(out, 4, MPI_INT, in, 4, MPI_INT, 0, world);
  MPI_Igather(rank == 0 ? MPI_IN_PLACE : out, rank == 0 ? -5 : 5, MPI_INT, in, 5, MPI_INT, 0, world,
              &request),
      DONE;
  MPI_Gatherv(out, COUNTS[rank], MPI_INT, in, COUNTS, PLACES, MPI_INT, 0, world);
  MPI_Igatherv(out, COUNTS[rank], MPI_INT, in, COUNTS, PLACES, MPI_INT, 0, world, &request), DONE;
  MPI_Scatter(out, 6, MPI_INT, in, 6, MPI_INT, 0, world);
  MPI_Iscatter(out, 7, MPI_INT, in, 7, MPI_INT, 0, world, &request), DONE;
  MPI_Scatterv(out, COUNTS, PLACES, MPI_INT, in, COUNTS[rank], MPI_INT, 0, world);
  MPI_Iscatterv(out, COUNTS, PLACES, MPI_INT, in, COUNTS[rank], MPI_INT, 0, world, &request), DONE;
  MPI_Reduce(out, in, 8, MPI_INT, MPI_SUM, 0, world);
  MPI_Ireduce(out, in, 9, MPI_INT, MPI_SUM, 0, world, &request), DONE;
}

static void from_and_to_all(void) {
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
  const int places[] = {0, 4, 12}, mine[] = {rank + 1, rank + 1, rank + 1};
  const int apart[] = {0, 12, 24}, here[] = {0, 3, 6};
  MPI_Request request;
  MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, world);
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, world, &request), DONE;
  MPI_Allgatherv(out, COUNTS[rank], MPI_INT, in, COUNTS, PLACES, MPI_INT, world);
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT, in, COUNTS, PLACES, MPI_INT, world, &request), DONE;
  MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, world);
  MPI_Ialltoall(out, 4, MPI_INT, in, 4, MPI_INT, world, &request), DONE;
  MPI_Alltoallv(out, COUNTS, PLACES, MPI_INT, in, mine, here, MPI_INT, world);
  MPI_Ialltoallv(out, COUNTS, PLACES, MPI_INT, in, mine, here, MPI_INT, world, &request), DONE;
  MPI_Alltoallw(out, COUNTS, places, types, in, mine, apart, types, world);
  MPI_Ialltoallw(out, COUNTS, places, types, in, mine, apart, types, world, &request), DONE;
  MPI_Allreduce(out, in, 5, MPI_INT, MPI_SUM, world);
  MPI_Iallreduce(MPI_IN_PLACE, in, 6, MPI_INT, MPI_SUM, world, &request), DONE;
  MPI_Reduce_scatter(out, in, COUNTS, MPI_INT, MPI_SUM, world);
  MPI_Ireduce_scatter(out, in, COUNTS, MPI_INT, MPI_SUM, world, &request), DONE;
  MPI_Reduce_scatter_block(out, in, 7, MPI_INT, MPI_SUM, world);
  MPI_Ireduce_scatter_block(out, in, 8, MPI_INT, MPI_SUM, world, &request), DONE;
  MPI_Scan(out, in, 9, MPI_INT, MPI_SUM, world);
  MPI_Iscan(out, in, 10, MPI_INT, MPI_SUM, world, &request), DONE;
  MPI_Exscan(out, in, 11, MPI_INT, MPI_SUM, world);
  MPI_Iexscan(out, in, 12, MPI_INT, MPI_SUM, world, &request), DONE;
}

static void among_neighbours(void) {
  const int length = 3, around = 1, two[] = {1, 2}, at[] = {0, 2};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  const int back[] = {2, 1};
  MPI_Comm ring;
  MPI_Request request;
  MPI_Cart_create(world, 1, &length, &around, 0, &ring);
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Ineighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, ring, &request), DONE;
  const int same[] = {3, 3}, apart[] = {0, 3};
  MPI_Neighbor_allgatherv(out, 3, MPI_INT, in, same, apart, MPI_INT, ring);
  MPI_Ineighbor_allgatherv(out, 3, MPI_INT, in, same, apart, MPI_INT, ring, &request), DONE;
  MPI_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_INT, ring);
  MPI_Ineighbor_alltoall(out, 5, MPI_INT, in, 5, MPI_INT, ring, &request), DONE;
  MPI_Neighbor_alltoallv(out, two, at, MPI_INT, in, back, at, MPI_INT, ring);
  MPI_Ineighbor_alltoallv(out, two, at, MPI_INT, in, back, at, MPI_INT, ring, &request), DONE;
  MPI_Neighbor_alltoallw(out, two, places, types, in, back, places, types, ring);
  MPI_Ineighbor_alltoallw(out, two, places, types, in, back, places, types, ring, &request), DONE;
  MPI_Comm_free(&ring);
}

// More sizes than are counted exactly: 4200 of them to oneself, the last 104 in a class.
static void many_sizes(void) {
  static char data[4200], received[4200];
  MPI_Request request;
  for (int bytes = 0; bytes < 4200; ++bytes) {
    MPI_Isend(data, bytes, MPI_BYTE, rank, TAG, world, &request);
    MPI_Recv(received, 4200, MPI_BYTE, rank, TAG, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  MPI_Buffer_attach(attached, sizeof attached);
  if (argc > 1 && strcmp(argv[1], "sizes") == 0) {
    many_sizes();
  } else if (argc > 1 && strcmp(argv[1], "unfinished") == 0) {
    blocking();
    exit(0);
  } else {
    blocking();
    at_once();
    again_and_again();
    matched();
    all_completions();
    special();
    accesses();
    from_and_to_one();
    from_and_to_all();
    among_neighbours();
  }
  MPI_Comm_free(&world);
  MPI_Finalize();
  return 0;
}
