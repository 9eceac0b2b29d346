// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of MPI_COMM_WORLD the peers of a communicator or window are.
#pragma once
#include <mpi.h>

// The ranks of a group in MPI_COMM_WORLD. Held by the object it was asked for, and by receives under way.
typedef struct Ranks Ranks;

// Of the peers of a communicator, and of the group of a window. NULL: memory is out.
Ranks* ranks_of_comm(MPI_Comm comm);
Ranks* ranks_of_window(MPI_Win window);

void ranks_hold(Ranks* ranks);
void ranks_release(Ranks* ranks);

// The rank in MPI_COMM_WORLD, or FOREIGN_PEER.
int ranks_in_world(const Ranks* ranks, int rank);
