! SPDX-License-Identifier: BSD-3-Clause
! Messages from Fortran by `use mpi` (which has the names of mpif.h too), each with a size of its own, for test_messages.py.
! In a ring of three ranks: everybody sends to the next.
program traffic
  use mpi
  implicit none
  integer, parameter :: room = 1024, tag = 7
  character :: out(room), in(room), attached(65536)
  integer :: numbers(room), more(room)
  integer :: rank, size, next, before, error, request, requests(2), status(MPI_STATUS_SIZE)
  integer :: statuses(MPI_STATUS_SIZE, 2), index, message, window, k
  integer :: counts(3) = (/1, 2, 3/), places(3) = (/0, 1, 3/), mine(3), here(3) = (/0, 3, 6/)
  integer(MPI_ADDRESS_KIND) :: place, bytes
  logical :: done
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call MPI_Buffer_attach(attached, 65536, error)

  call MPI_Send(out, 10, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, error)
  call MPI_Recv(in, room, MPI_CHARACTER, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Bsend(out, 11, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, error)
  call MPI_Recv(in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, status, error)
  if (status(MPI_SOURCE) /= before) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  call MPI_Irecv(in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, request, error)
  call MPI_Ssend(out, 12, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Irecv(in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(out, 14, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Sendrecv(out, 22, MPI_CHARACTER, next, tag, in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, error)
  call MPI_Recv_init(in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, requests(1), error)
  call MPI_Send_init(out, 18, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, requests(2), error)
  do k = 1, 3
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, statuses, error)
    if (statuses(MPI_SOURCE, 1) /= before) call MPI_Abort(MPI_COMM_WORLD, 2, error)
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Send(out, 24, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, error)
  call MPI_Mprobe(before, tag, MPI_COMM_WORLD, message, status, error)
  call MPI_Mrecv(in, room, MPI_CHARACTER, message, status, error)
  call MPI_Irecv(in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, requests(1), error)
  requests(2) = MPI_REQUEST_NULL
  call MPI_Send(out, 26, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, error)
  call MPI_Waitany(2, requests, index, status, error)
  if (index /= 1) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  call MPI_Irecv(in, room, MPI_CHARACTER, before, tag, MPI_COMM_WORLD, request, error)
  call MPI_Send(out, 27, MPI_CHARACTER, next, tag, MPI_COMM_WORLD, error)
  done = .false.
  do while (.not. done)
    call MPI_Test(request, done, MPI_STATUS_IGNORE, error)
  end do

  bytes = 4096
  call MPI_Win_create(numbers, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_fence(0, window, error)
  place = 3
  call MPI_Put(more, 5, MPI_INTEGER, next, place, 5, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Get(more, 6, MPI_INTEGER, next, place, 6, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Accumulate(more, 7, MPI_INTEGER, next, place, 7, MPI_INTEGER, MPI_SUM, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Win_free(window, error)

  mine = rank + 1
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Bcast(numbers, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, numbers, 4, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Alltoallv(numbers, counts, places, MPI_INTEGER, more, mine, here, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Scatter(numbers, 6, MPI_INTEGER, more, 6, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Iallreduce(numbers, more, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Finalize(error)
end program traffic
