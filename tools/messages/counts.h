// SPDX-License-Identifier: BSD-3-Clause
// What this process has counted: per kind of call the messages of each size and of each peer, and over time.
#pragma once
#include <stdint.h>
#include <stdio.h>

// Every kind of call, by the name of the function, with the group that it belongs to.
// clang-format off
#define MESSAGE_KINDS(X) \
  X(send, SENT) X(bsend, SENT) X(ssend, SENT) X(rsend, SENT) \
  X(isend, SENT) X(ibsend, SENT) X(issend, SENT) X(irsend, SENT) \
  X(send_init, SENT) X(bsend_init, SENT) X(ssend_init, SENT) X(rsend_init, SENT) \
  X(sendrecv, SENT) X(sendrecv_replace, SENT) \
  X(recv, RECEIVED) X(irecv, RECEIVED) X(recv_init, RECEIVED) X(mrecv, RECEIVED) X(imrecv, RECEIVED) \
  X(recv_of_sendrecv, RECEIVED) X(recv_of_sendrecv_replace, RECEIVED) \
  X(put, ONE_SIDED) X(get, ONE_SIDED) X(accumulate, ONE_SIDED) X(get_accumulate, ONE_SIDED) \
  X(fetch_and_op, ONE_SIDED) X(compare_and_swap, ONE_SIDED) \
  X(rput, ONE_SIDED) X(rget, ONE_SIDED) X(raccumulate, ONE_SIDED) X(rget_accumulate, ONE_SIDED) \
  COLLECTIVE_KINDS(X) COLLECTIVE_KINDS_I(X)
#define COLLECTIVE_KINDS(X) \
  X(barrier, COLLECTIVE) X(bcast, COLLECTIVE) X(gather, COLLECTIVE) X(gatherv, COLLECTIVE) \
  X(scatter, COLLECTIVE) X(scatterv, COLLECTIVE) X(allgather, COLLECTIVE) X(allgatherv, COLLECTIVE) \
  X(alltoall, COLLECTIVE) X(alltoallv, COLLECTIVE) X(alltoallw, COLLECTIVE) \
  X(reduce, COLLECTIVE) X(allreduce, COLLECTIVE) X(reduce_scatter, COLLECTIVE) \
  X(reduce_scatter_block, COLLECTIVE) X(scan, COLLECTIVE) X(exscan, COLLECTIVE) \
  X(neighbor_allgather, COLLECTIVE) X(neighbor_allgatherv, COLLECTIVE) \
  X(neighbor_alltoall, COLLECTIVE) X(neighbor_alltoallv, COLLECTIVE) X(neighbor_alltoallw, COLLECTIVE)
#define COLLECTIVE_KINDS_I(X) \
  X(ibarrier, COLLECTIVE) X(ibcast, COLLECTIVE) X(igather, COLLECTIVE) X(igatherv, COLLECTIVE) \
  X(iscatter, COLLECTIVE) X(iscatterv, COLLECTIVE) X(iallgather, COLLECTIVE) X(iallgatherv, COLLECTIVE) \
  X(ialltoall, COLLECTIVE) X(ialltoallv, COLLECTIVE) X(ialltoallw, COLLECTIVE) \
  X(ireduce, COLLECTIVE) X(iallreduce, COLLECTIVE) X(ireduce_scatter, COLLECTIVE) \
  X(ireduce_scatter_block, COLLECTIVE) X(iscan, COLLECTIVE) X(iexscan, COLLECTIVE) \
  X(ineighbor_allgather, COLLECTIVE) X(ineighbor_allgatherv, COLLECTIVE) \
  X(ineighbor_alltoall, COLLECTIVE) X(ineighbor_alltoallv, COLLECTIVE) X(ineighbor_alltoallw, COLLECTIVE)
// clang-format on

typedef enum { SENT, RECEIVED, ONE_SIDED, COLLECTIVE, GROUPS } Group;

#define KIND_OF(name, group) KIND_##name,
typedef enum { MESSAGE_KINDS(KIND_OF) KINDS } Kind;
#undef KIND_OF

// The peer of a collective, which has none, and of a process outside of MPI_COMM_WORLD.
enum { NO_PEER = -1, FOREIGN_PEER = -2 };

// Begins with empty counts and the clock at 0; `threads`: several threads may count at a time.
void counts_begin(int threads);

// Counts a message of a kind. A peer is a rank of MPI_COMM_WORLD.
void counts_add(Kind kind, int peer, int64_t bytes);

// Counts a receive of which nobody learns whether and what it received.
void counts_add_unseen(void);

// Seconds since the begin.
double counts_elapsed_s(void);

// Writes the counts as members of a JSON object, without its braces.
void counts_write(FILE* file);

// One thread at a time, if there are several.
void counts_lock(void);
void counts_unlock(void);
