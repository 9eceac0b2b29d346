// SPDX-License-Identifier: BSD-3-Clause
// Bytes of a rank's part in a collective call: what it hands in; where it hands in nothing, what it takes.
#pragma once
#include <mpi.h>
#include <stdint.h>

// Whether a rank's contribution is in its receive buffer; also as Fortran says it.
int is_in_place(const void* data);

int size_of_comm(MPI_Comm comm);
int rank_in_comm(MPI_Comm comm);
int is_root(int root, MPI_Comm comm);

// To how many neighbours, and from how many, in the topology of a communicator.
int neighbours_to(MPI_Comm comm);

int64_t sum_of(const int* counts, int n);

// What is sent, or what lies in the receive buffer of one that works in place.
int64_t own_share(const void* data, int64_t count, MPI_Datatype type, int64_t room, MPI_Datatype room_type);

// Of the root the whole, of the others what they get.
int64_t scattered_share(int root, MPI_Comm comm, int64_t whole, MPI_Datatype type, int64_t room,
                        MPI_Datatype room_type);

// Of n messages with types of their own.
int64_t mixed_share(int n, const int* counts, const MPI_Datatype* types);
