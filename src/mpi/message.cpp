#include "tailrace/mpi/message.hpp"

#include <climits>

#include "tailrace/base/check.hpp"

namespace tailrace::mpi {

BlockType::BlockType(const BlockShape& shape) {
  TAILRACE_CHECK(shape.size_bytes() > 0 && shape.size_bytes() <= INT_MAX,
                 "a message has 1 to 2^31 - 1 bytes");
  const bool rows_join = shape.rows == 1 || shape.row_distance_bytes == shape.row_bytes;
  const std::int64_t run_bytes = rows_join ? shape.row_bytes * shape.rows : shape.row_bytes;
  const int runs = rows_join ? 1 : static_cast<int>(shape.rows);
  MPI_Datatype plane = MPI_DATATYPE_NULL;
  check(
      MPI_Type_create_hvector(runs, static_cast<int>(run_bytes), shape.row_distance_bytes, MPI_BYTE, &plane),
      "MPI_Type_create_hvector");
  const int code =
      MPI_Type_create_hvector(static_cast<int>(shape.planes), 1, shape.plane_distance_bytes, plane, &type_);
  MPI_Type_free(&plane);
  check(code, "MPI_Type_create_hvector");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

BlockType::~BlockType() {
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

MPI_Request start_send(CommView comm, const std::byte* first, MPI_Datatype block, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(first, 1, block, to, tag, comm.get(), &request), "MPI_Isend");
  return request;
}

MPI_Request start_receive(CommView comm, std::byte* first, MPI_Datatype block, int from, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(first, 1, block, from, tag, comm.get(), &request), "MPI_Irecv");
  return request;
}

}  // namespace tailrace::mpi
