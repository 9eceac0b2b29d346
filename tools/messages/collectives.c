// SPDX-License-Identifier: BSD-3-Clause
// Collective calls from C, blocking and not.
#include "observe.h"
#include "shares.h"

#define LIST(...) __VA_ARGS__

// Name and kind of the blocking call, of the other, the parameters, their names, and the bytes of this rank's
// part.
#define COLLECTIVE(Name, kind, Iname, ikind, parameters, names, bytes)            \
  int MPI_##Name(parameters) {                                                    \
    OBSERVED(PMPI_##Name(names), note_collective(KIND_##kind, bytes));            \
  }                                                                               \
  int MPI_##Iname(parameters, MPI_Request* request) {                             \
    OBSERVED(PMPI_##Iname(names, request), note_collective(KIND_##ikind, bytes)); \
  }

COLLECTIVE(Barrier, barrier, Ibarrier, ibarrier, LIST(MPI_Comm comm), LIST(comm), 0)

COLLECTIVE(Bcast, bcast, Ibcast, ibcast,
           LIST(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(data, count, type, root, comm), bytes_of(count, type))

COLLECTIVE(Gather, gather, Igather, igather,
           LIST(const void* data, int count, MPI_Datatype type, void* into, int room, MPI_Datatype room_type,
                int root, MPI_Comm comm),
           LIST(data, count, type, into, room, room_type, root, comm),
           own_share(data, count, type, room, room_type))

COLLECTIVE(Gatherv, gatherv, Igatherv, igatherv,
           LIST(const void* data, int count, MPI_Datatype type, void* into, const int* rooms,
                const int* places, MPI_Datatype room_type, int root, MPI_Comm comm),
           LIST(data, count, type, into, rooms, places, room_type, root, comm),
           own_share(data, count, type, is_in_place(data) ? rooms[rank_in_comm(comm)] : 0, room_type))

COLLECTIVE(Scatter, scatter, Iscatter, iscatter,
           LIST(const void* data, int count, MPI_Datatype type, void* into, int room, MPI_Datatype room_type,
                int root, MPI_Comm comm),
           LIST(data, count, type, into, room, room_type, root, comm),
           scattered_share(root, comm, (int64_t)count* size_of_comm(comm), type, room, room_type))

COLLECTIVE(Scatterv, scatterv, Iscatterv, iscatterv,
           LIST(const void* data, const int* counts, const int* places, MPI_Datatype type, void* into,
                int room, MPI_Datatype room_type, int root, MPI_Comm comm),
           LIST(data, counts, places, type, into, room, room_type, root, comm),
           scattered_share(root, comm, is_root(root, comm) ? sum_of(counts, size_of_comm(comm)) : 0, type,
                           room, room_type))

COLLECTIVE(Allgather, allgather, Iallgather, iallgather,
           LIST(const void* data, int count, MPI_Datatype type, void* into, int room, MPI_Datatype room_type,
                MPI_Comm comm),
           LIST(data, count, type, into, room, room_type, comm),
           own_share(data, count, type, room, room_type))

COLLECTIVE(Allgatherv, allgatherv, Iallgatherv, iallgatherv,
           LIST(const void* data, int count, MPI_Datatype type, void* into, const int* rooms,
                const int* places, MPI_Datatype room_type, MPI_Comm comm),
           LIST(data, count, type, into, rooms, places, room_type, comm),
           own_share(data, count, type, is_in_place(data) ? rooms[rank_in_comm(comm)] : 0, room_type))

COLLECTIVE(Alltoall, alltoall, Ialltoall, ialltoall,
           LIST(const void* data, int count, MPI_Datatype type, void* into, int room, MPI_Datatype room_type,
                MPI_Comm comm),
           LIST(data, count, type, into, room, room_type, comm),
           size_of_comm(comm) * own_share(data, count, type, room, room_type))

COLLECTIVE(Alltoallv, alltoallv, Ialltoallv, ialltoallv,
           LIST(const void* data, const int* counts, const int* places, MPI_Datatype type, void* into,
                const int* rooms, const int* room_places, MPI_Datatype room_type, MPI_Comm comm),
           LIST(data, counts, places, type, into, rooms, room_places, room_type, comm),
           own_share(data, is_in_place(data) ? 0 : sum_of(counts, size_of_comm(comm)), type,
                     is_in_place(data) ? sum_of(rooms, size_of_comm(comm)) : 0, room_type))

COLLECTIVE(Alltoallw, alltoallw, Ialltoallw, ialltoallw,
           LIST(const void* data, const int* counts, const int* places, const MPI_Datatype* types, void* into,
                const int* rooms, const int* room_places, const MPI_Datatype* room_types, MPI_Comm comm),
           LIST(data, counts, places, types, into, rooms, room_places, room_types, comm),
           mixed_share(size_of_comm(comm), is_in_place(data) ? rooms : counts,
                       is_in_place(data) ? room_types : types))

COLLECTIVE(Reduce, reduce, Ireduce, ireduce,
           LIST(const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm),
           LIST(data, into, count, type, op, root, comm), bytes_of(count, type))

#define REDUCTION(Name, kind, Iname, ikind)                                                              \
  COLLECTIVE(Name, kind, Iname, ikind,                                                                   \
             LIST(const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
             LIST(data, into, count, type, op, comm), bytes_of(count, type))
REDUCTION(Allreduce, allreduce, Iallreduce, iallreduce)
REDUCTION(Scan, scan, Iscan, iscan)
REDUCTION(Exscan, exscan, Iexscan, iexscan)

COLLECTIVE(Reduce_scatter, reduce_scatter, Ireduce_scatter, ireduce_scatter,
           LIST(const void* data, void* into, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(data, into, counts, type, op, comm), bytes_of(sum_of(counts, size_of_comm(comm)), type))

COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, Ireduce_scatter_block, ireduce_scatter_block,
           LIST(const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(data, into, count, type, op, comm), size_of_comm(comm) * bytes_of(count, type))

COLLECTIVE(Neighbor_allgather, neighbor_allgather, Ineighbor_allgather, ineighbor_allgather,
           LIST(const void* data, int count, MPI_Datatype type, void* into, int room, MPI_Datatype room_type,
                MPI_Comm comm),
           LIST(data, count, type, into, room, room_type, comm), bytes_of(count, type))

COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, Ineighbor_allgatherv, ineighbor_allgatherv,
           LIST(const void* data, int count, MPI_Datatype type, void* into, const int* rooms,
                const int* places, MPI_Datatype room_type, MPI_Comm comm),
           LIST(data, count, type, into, rooms, places, room_type, comm), bytes_of(count, type))

COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, Ineighbor_alltoall, ineighbor_alltoall,
           LIST(const void* data, int count, MPI_Datatype type, void* into, int room, MPI_Datatype room_type,
                MPI_Comm comm),
           LIST(data, count, type, into, room, room_type, comm), neighbours_to(comm) * bytes_of(count, type))

COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, Ineighbor_alltoallv, ineighbor_alltoallv,
           LIST(const void* data, const int* counts, const int* places, MPI_Datatype type, void* into,
                const int* rooms, const int* room_places, MPI_Datatype room_type, MPI_Comm comm),
           LIST(data, counts, places, type, into, rooms, room_places, room_type, comm),
           bytes_of(sum_of(counts, neighbours_to(comm)), type))

COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, Ineighbor_alltoallw, ineighbor_alltoallw,
           LIST(const void* data, const int* counts, const MPI_Aint* places, const MPI_Datatype* types,
                void* into, const int* rooms, const MPI_Aint* room_places, const MPI_Datatype* room_types,
                MPI_Comm comm),
           LIST(data, counts, places, types, into, rooms, room_places, room_types, comm),
           mixed_share(neighbours_to(comm), counts, types))
