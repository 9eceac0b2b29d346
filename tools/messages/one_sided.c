// SPDX-License-Identifier: BSD-3-Clause
// Accesses to windows from C. What is counted is what is accessed in the target's memory.
#include "observe.h"

#define ACCESS(kind) note_access(KIND_##kind, target_count, target_type, target, window)

int MPI_Put(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  OBSERVED(PMPI_Put(data, count, type, target, place, target_count, target_type, window), ACCESS(put));
}

int MPI_Rput(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  OBSERVED(PMPI_Rput(data, count, type, target, place, target_count, target_type, window, request),
           ACCESS(rput));
}

int MPI_Get(void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  OBSERVED(PMPI_Get(data, count, type, target, place, target_count, target_type, window), ACCESS(get));
}

int MPI_Rget(void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  OBSERVED(PMPI_Rget(data, count, type, target, place, target_count, target_type, window, request),
           ACCESS(rget));
}

int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                   int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  OBSERVED(PMPI_Accumulate(data, count, type, target, place, target_count, target_type, op, window),
           ACCESS(accumulate));
}

int MPI_Raccumulate(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                    int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window,
                    MPI_Request* request) {
  OBSERVED(PMPI_Raccumulate(data, count, type, target, place, target_count, target_type, op, window, request),
           ACCESS(raccumulate));
}

int MPI_Get_accumulate(const void* data, int count, MPI_Datatype type, void* result, int result_count,
                       MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
                       MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  OBSERVED(PMPI_Get_accumulate(data, count, type, result, result_count, result_type, target, place,
                               target_count, target_type, op, window),
           ACCESS(get_accumulate));
}

int MPI_Rget_accumulate(const void* data, int count, MPI_Datatype type, void* result, int result_count,
                        MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
                        MPI_Datatype target_type, MPI_Op op, MPI_Win window, MPI_Request* request) {
  OBSERVED(PMPI_Rget_accumulate(data, count, type, result, result_count, result_type, target, place,
                                target_count, target_type, op, window, request),
           ACCESS(rget_accumulate));
}

int MPI_Fetch_and_op(const void* data, void* result, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op,
                     MPI_Win window) {
  OBSERVED(PMPI_Fetch_and_op(data, result, type, target, place, op, window),
           note_access(KIND_fetch_and_op, 1, type, target, window));
}

int MPI_Compare_and_swap(const void* data, const void* expected, void* result, MPI_Datatype type, int target,
                         MPI_Aint place, MPI_Win window) {
  OBSERVED(PMPI_Compare_and_swap(data, expected, result, type, target, place, window),
           note_access(KIND_compare_and_swap, 1, type, target, window));
}
