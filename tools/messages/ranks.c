// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.h"

#include <stdlib.h>

#include "counts.h"

struct Ranks {
  int holders;
  int size;
  int* in_world;  // NULL: the same number
};

static Ranks world = {.holders = 1};
static int comm_key = MPI_KEYVAL_INVALID;
static int window_key = MPI_KEYVAL_INVALID;

void ranks_hold(Ranks* ranks) {
  counts_lock();
  if (ranks != NULL) ++ranks->holders;
  counts_unlock();
}

void ranks_release(Ranks* ranks) {
  if (ranks == NULL) return;
  counts_lock();
  const int left = --ranks->holders;
  counts_unlock();
  if (left > 0) return;
  free(ranks->in_world);
  free(ranks);
}

int ranks_in_world(const Ranks* ranks, int rank) {
  if (ranks == NULL) return FOREIGN_PEER;
  if (ranks->in_world == NULL) return rank;
  return rank >= 0 && rank < ranks->size ? ranks->in_world[rank] : FOREIGN_PEER;
}

static void translate(Ranks* ranks, MPI_Group group, int* own) {
  MPI_Group all;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int i = 0; i < ranks->size; ++i) own[i] = i;
  PMPI_Group_translate_ranks(group, ranks->size, own, all, ranks->in_world);
  for (int i = 0; i < ranks->size; ++i) {
    if (ranks->in_world[i] == MPI_UNDEFINED) ranks->in_world[i] = FOREIGN_PEER;
  }
  PMPI_Group_free(&all);
}

static Ranks* ranks_of_group(MPI_Group group) {
  Ranks* ranks = calloc(1, sizeof(Ranks));
  if (ranks == NULL) return NULL;
  PMPI_Group_size(group, &ranks->size);
  ranks->holders = 1;
  ranks->in_world = calloc((size_t)ranks->size + 1, sizeof(int));
  int* own = calloc((size_t)ranks->size + 1, sizeof(int));
  if (ranks->in_world != NULL && own != NULL) translate(ranks, group, own);
  free(own);
  return ranks;
}

static int forget_comm(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  ranks_release(value);
  return MPI_SUCCESS;
}

static int forget_window(MPI_Win window, int key, void* value, void* extra) {
  (void)window, (void)key, (void)extra;
  ranks_release(value);
  return MPI_SUCCESS;
}

Ranks* ranks_of_comm(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return &world;
  if (comm_key == MPI_KEYVAL_INVALID) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &comm_key, NULL);
  }
  Ranks* known = NULL;
  int found = 0;
  PMPI_Comm_get_attr(comm, comm_key, &known, &found);
  if (found) return known;
  int between = 0;
  MPI_Group group;
  PMPI_Comm_test_inter(comm, &between);
  (between ? PMPI_Comm_remote_group : PMPI_Comm_group)(comm, &group);
  Ranks* ranks = ranks_of_group(group);
  PMPI_Group_free(&group);
  PMPI_Comm_set_attr(comm, comm_key, ranks);
  return ranks;
}

Ranks* ranks_of_window(MPI_Win window) {
  if (window_key == MPI_KEYVAL_INVALID) {
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_window, &window_key, NULL);
  }
  Ranks* known = NULL;
  int found = 0;
  PMPI_Win_get_attr(window, window_key, &known, &found);
  if (found) return known;
  MPI_Group group;
  PMPI_Win_get_group(window, &group);
  Ranks* ranks = ranks_of_group(group);
  PMPI_Group_free(&group);
  PMPI_Win_set_attr(window, window_key, ranks);
  return ranks;
}
