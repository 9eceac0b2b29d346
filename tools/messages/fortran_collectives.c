// SPDX-License-Identifier: BSD-3-Clause
// Collective calls from Fortran, blocking and not.
#include <stdlib.h>

#include "fortran.h"
#include "shares.h"

#define COLLECTIVE(kind, ikind, parameters, names, bytes)                           \
  FORTRAN(kind, LIST(parameters), LIST(names), note_collective(KIND_##kind, bytes)) \
  FORTRAN(ikind, LIST(parameters, F* request), LIST(names, request), note_collective(KIND_##ikind, bytes))

static int peers(const F* comm) {
  return size_of_comm(COMM(comm));
}

static int own_room(const void* data, const F* rooms, const F* comm) {
  return is_in_place(data) ? rooms[rank_in_comm(COMM(comm))] : 0;
}

static int64_t mixed(int n, const F* counts, const F* types) {
  MPI_Datatype* of_c = calloc((size_t)n + 1, sizeof(MPI_Datatype));
  if (of_c == NULL) return 0;
  for (int i = 0; i < n; ++i) of_c[i] = MPI_Type_f2c(types[i]);
  const int64_t bytes = mixed_share(n, counts, of_c);
  free(of_c);
  return bytes;
}

COLLECTIVE(barrier, ibarrier, LIST(F* comm), LIST(comm), 0)

COLLECTIVE(bcast, ibcast, LIST(void* data, F* count, F* type, F* root, F* comm),
           LIST(data, count, type, root, comm), bytes_of(*count, TYPE(type)))

COLLECTIVE(gather, igather,
           LIST(void* data, F* count, F* type, void* into, F* room, F* room_type, F* root, F* comm),
           LIST(data, count, type, into, room, room_type, root, comm),
           own_share(data, *count, TYPE(type), *room, TYPE(room_type)))

COLLECTIVE(gatherv, igatherv,
           LIST(void* data, F* count, F* type, void* into, F* rooms, F* places, F* room_type, F* root,
                F* comm),
           LIST(data, count, type, into, rooms, places, room_type, root, comm),
           own_share(data, *count, TYPE(type), own_room(data, rooms, comm), TYPE(room_type)))

COLLECTIVE(scatter, iscatter,
           LIST(void* data, F* count, F* type, void* into, F* room, F* room_type, F* root, F* comm),
           LIST(data, count, type, into, room, room_type, root, comm),
           scattered_share(*root, COMM(comm), (int64_t)*count* peers(comm), TYPE(type), *room,
                           TYPE(room_type)))

COLLECTIVE(scatterv, iscatterv,
           LIST(void* data, F* counts, F* places, F* type, void* into, F* room, F* room_type, F* root,
                F* comm),
           LIST(data, counts, places, type, into, room, room_type, root, comm),
           scattered_share(*root, COMM(comm), is_root(*root, COMM(comm)) ? sum_of(counts, peers(comm)) : 0,
                           TYPE(type), *room, TYPE(room_type)))

COLLECTIVE(allgather, iallgather,
           LIST(void* data, F* count, F* type, void* into, F* room, F* room_type, F* comm),
           LIST(data, count, type, into, room, room_type, comm),
           own_share(data, *count, TYPE(type), *room, TYPE(room_type)))

COLLECTIVE(allgatherv, iallgatherv,
           LIST(void* data, F* count, F* type, void* into, F* rooms, F* places, F* room_type, F* comm),
           LIST(data, count, type, into, rooms, places, room_type, comm),
           own_share(data, *count, TYPE(type), own_room(data, rooms, comm), TYPE(room_type)))

COLLECTIVE(alltoall, ialltoall,
           LIST(void* data, F* count, F* type, void* into, F* room, F* room_type, F* comm),
           LIST(data, count, type, into, room, room_type, comm),
           peers(comm) * own_share(data, *count, TYPE(type), *room, TYPE(room_type)))

COLLECTIVE(alltoallv, ialltoallv,
           LIST(void* data, F* counts, F* places, F* type, void* into, F* rooms, F* room_places, F* room_type,
                F* comm),
           LIST(data, counts, places, type, into, rooms, room_places, room_type, comm),
           own_share(data, is_in_place(data) ? 0 : sum_of(counts, peers(comm)), TYPE(type),
                     is_in_place(data) ? sum_of(rooms, peers(comm)) : 0, TYPE(room_type)))

COLLECTIVE(alltoallw, ialltoallw,
           LIST(void* data, F* counts, F* places, F* types, void* into, F* rooms, F* room_places,
                F* room_types, F* comm),
           LIST(data, counts, places, types, into, rooms, room_places, room_types, comm),
           mixed(peers(comm), is_in_place(data) ? rooms : counts, is_in_place(data) ? room_types : types))

COLLECTIVE(reduce, ireduce, LIST(void* data, void* into, F* count, F* type, F* op, F* root, F* comm),
           LIST(data, into, count, type, op, root, comm), bytes_of(*count, TYPE(type)))

#define REDUCTION(kind, ikind, factor)                                                     \
  COLLECTIVE(kind, ikind, LIST(void* data, void* into, F* count, F* type, F* op, F* comm), \
             LIST(data, into, count, type, op, comm), factor* bytes_of(*count, TYPE(type)))
REDUCTION(allreduce, iallreduce, 1)
REDUCTION(scan, iscan, 1)
REDUCTION(exscan, iexscan, 1)
REDUCTION(reduce_scatter_block, ireduce_scatter_block, peers(comm))

COLLECTIVE(reduce_scatter, ireduce_scatter, LIST(void* data, void* into, F* counts, F* type, F* op, F* comm),
           LIST(data, into, counts, type, op, comm), bytes_of(sum_of(counts, peers(comm)), TYPE(type)))

COLLECTIVE(neighbor_allgather, ineighbor_allgather,
           LIST(void* data, F* count, F* type, void* into, F* room, F* room_type, F* comm),
           LIST(data, count, type, into, room, room_type, comm), bytes_of(*count, TYPE(type)))

COLLECTIVE(neighbor_allgatherv, ineighbor_allgatherv,
           LIST(void* data, F* count, F* type, void* into, F* rooms, F* places, F* room_type, F* comm),
           LIST(data, count, type, into, rooms, places, room_type, comm), bytes_of(*count, TYPE(type)))

COLLECTIVE(neighbor_alltoall, ineighbor_alltoall,
           LIST(void* data, F* count, F* type, void* into, F* room, F* room_type, F* comm),
           LIST(data, count, type, into, room, room_type, comm),
           neighbours_to(COMM(comm)) * bytes_of(*count, TYPE(type)))

COLLECTIVE(neighbor_alltoallv, ineighbor_alltoallv,
           LIST(void* data, F* counts, F* places, F* type, void* into, F* rooms, F* room_places, F* room_type,
                F* comm),
           LIST(data, counts, places, type, into, rooms, room_places, room_type, comm),
           bytes_of(sum_of(counts, neighbours_to(COMM(comm))), TYPE(type)))

COLLECTIVE(neighbor_alltoallw, ineighbor_alltoallw,
           LIST(void* data, F* counts, MPI_Aint* places, F* types, void* into, F* rooms,
                MPI_Aint* room_places, F* room_types, F* comm),
           LIST(data, counts, places, types, into, rooms, room_places, room_types, comm),
           mixed(neighbours_to(COMM(comm)), counts, types))
