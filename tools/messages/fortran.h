// SPDX-License-Identifier: BSD-3-Clause
// Calls from Fortran under Open MPI, whose Fortran interface does not come through the C one:
// `include 'mpif.h'` and `use mpi` have names like mpi_send_, `use mpi_f08` like mpi_send_f08_, with the same
// arguments. The names are gfortran's.
#pragma once
#include <assert.h>
#include <mpi.h>

#include "observe.h"

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of INTEGERs are read as they are");

typedef MPI_Fint F;
#define LIST(...) __VA_ARGS__
#define TYPE(handle) MPI_Type_f2c(*(handle))
#define COMM(handle) MPI_Comm_f2c(*(handle))
#define WINDOW(handle) MPI_Win_f2c(*(handle))
#define REQUEST(handle) MPI_Request_f2c(*(handle))

// The entry point of the library that follows this one, or the end: without it the program could not have
// called ours.
void* fortran_next(const char* name);

// In mpi_f08 the error is optional.
static inline int succeeded(const F* error) {
  return error == NULL || *error == MPI_SUCCESS;
}

#define ENTRY(symbol, parameters, names, note)                    \
  void symbol(parameters, F* error) {                             \
    static void (*next)(parameters, F*);                          \
    if (next == NULL) *(void**)&next = fortran_next(#symbol);     \
    ++observe_depth;                                              \
    next(names, error);                                           \
    if (--observe_depth == 0 && observe_on && succeeded(error)) { \
      note;                                                       \
    }                                                             \
  }
#define FORTRAN(name, parameters, names, note)              \
  ENTRY(mpi_##name##_, LIST(parameters), LIST(names), note) \
  ENTRY(mpi_##name##_f08_, LIST(parameters), LIST(names), note)
