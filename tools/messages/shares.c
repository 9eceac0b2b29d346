// SPDX-License-Identifier: BSD-3-Clause
#include "shares.h"

#include "observe.h"

#ifdef OPEN_MPI
extern int mpi_fortran_in_place_;
int is_in_place(const void* data) {
  return data == MPI_IN_PLACE || data == &mpi_fortran_in_place_;
}
#else
int is_in_place(const void* data) {
  return data == MPI_IN_PLACE;
}
#endif

// Peers: of a communicator between two groups, those of the other group.
int size_of_comm(MPI_Comm comm) {
  int between = 0, size = 0;
  PMPI_Comm_test_inter(comm, &between);
  (between ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size);
  return size;
}

int rank_in_comm(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int is_root(int root, MPI_Comm comm) {
  return root == MPI_ROOT || root == rank_in_comm(comm);
}

static int neighbours_in_grid(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  return 2 * dimensions;
}

static int neighbours_in_graph(MPI_Comm comm) {
  int count = 0;
  PMPI_Graph_neighbors_count(comm, rank_in_comm(comm), &count);
  return count;
}

static int neighbours_in_distributed_graph(MPI_Comm comm) {
  int from = 0, to = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
  return to;
}

int neighbours_to(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) return neighbours_in_grid(comm);
  if (topology == MPI_GRAPH) return neighbours_in_graph(comm);
  return topology == MPI_DIST_GRAPH ? neighbours_in_distributed_graph(comm) : 0;
}

int64_t sum_of(const int* counts, int n) {
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) sum += counts[i];
  return sum;
}

int64_t own_share(const void* data, int64_t count, MPI_Datatype type, int64_t room, MPI_Datatype room_type) {
  return is_in_place(data) ? bytes_of(room, room_type) : bytes_of(count, type);
}

int64_t scattered_share(int root, MPI_Comm comm, int64_t whole, MPI_Datatype type, int64_t room,
                        MPI_Datatype room_type) {
  return is_root(root, comm) ? bytes_of(whole, type) : bytes_of(room, room_type);
}

int64_t mixed_share(int n, const int* counts, const MPI_Datatype* types) {
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    if (counts[i] > 0) sum += bytes_of(counts[i], types[i]);
  }
  return sum;
}
