! SPDX-License-Identifier: BSD-3-Clause
! A few messages by `use mpi_f08`, for test_messages.py. In a ring of three ranks: everybody sends to the next.
program traffic
  use mpi_f08
  implicit none
  character :: out(100), in(100)
  integer :: rank, size, next, before, numbers(8), sums(8)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call MPI_Send(out, 10, MPI_CHARACTER, next, 7, MPI_COMM_WORLD)
  call MPI_Recv(in, 100, MPI_CHARACTER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status)
  if (status%MPI_SOURCE /= before) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Irecv(in, 100, MPI_CHARACTER, before, 7, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(out, 14, MPI_CHARACTER, next, 7, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Sendrecv(out, 22, MPI_CHARACTER, next, 7, in, 100, MPI_CHARACTER, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Allreduce(numbers, sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
end program traffic
