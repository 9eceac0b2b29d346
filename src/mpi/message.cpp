// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/message.hpp"

#include <climits>

#include "base/check.hpp"

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

MPI_Request start_send(CommView comm, std::span<const std::byte> bytes, int to, int tag) {
  TAILRACE_CHECK(bytes.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.get(), &request),
        "MPI_Isend");
  return request;
}

MPI_Request start_receive(CommView comm, std::span<std::byte> out, int from, int tag) {
  TAILRACE_CHECK(out.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, from, tag, comm.get(), &request),
        "MPI_Irecv");
  return request;
}

MPI_Request prepare_send(CommView comm, std::span<const std::byte> bytes, int to, int tag) {
  TAILRACE_CHECK(bytes.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Send_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.get(), &request),
        "MPI_Send_init");
  return request;
}

MPI_Request prepare_receive(CommView comm, std::span<std::byte> out, int from, int tag) {
  TAILRACE_CHECK(out.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Recv_init(out.data(), static_cast<int>(out.size()), MPI_BYTE, from, tag, comm.get(), &request),
        "MPI_Recv_init");
  return request;
}

void start(MPI_Request& prepared) {
  check(MPI_Start(&prepared), "MPI_Start");
}

void free_request(MPI_Request& request) noexcept {
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

std::span<const int> test_some(std::span<MPI_Request> requests, std::vector<int>& numbers) {
  numbers.resize(requests.size());
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, numbers.data(),
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  if (count == MPI_UNDEFINED) count = 0;
  return std::span(numbers).first(static_cast<std::size_t>(count));
}

std::optional<ReceivedBy> test_receives(std::span<MPI_Request> requests) {
  int done = 0, bytes = 0, index = MPI_UNDEFINED;
  MPI_Status status;
  check(MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &done, &status),
        "MPI_Testany");
  if (done == 0 || index == MPI_UNDEFINED) return {};
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return ReceivedBy{static_cast<std::size_t>(index), {status.MPI_SOURCE, bytes}};
}

std::optional<Arrival> find_arrival(CommView comm, int tag) {
  int found = 0, bytes = 0;
  Arrival arrival;
  MPI_Status status;
  check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm.get(), &found, &arrival.handle, &status), "MPI_Improbe");
  if (found == 0) return {};
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  arrival.source = status.MPI_SOURCE;
  arrival.bytes = bytes;
  return arrival;
}

MPI_Request start_receive(const Arrival& arrival, std::span<std::byte> out) {
  TAILRACE_CHECK(static_cast<std::int64_t>(out.size()) == arrival.bytes, "room for the message");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message handle = arrival.handle;
  check(MPI_Imrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, &handle, &request), "MPI_Imrecv");
  return request;
}

std::vector<std::byte> receive(const Arrival& arrival) {
  std::vector<std::byte> message(static_cast<std::size_t>(arrival.bytes));
  MPI_Request request = start_receive(arrival, message);
  wait_all(std::span(&request, 1));
  return message;
}

MPI_Request start_synchronous_send(CommView comm, std::span<const std::byte> bytes, int to, int tag) {
  TAILRACE_CHECK(bytes.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Issend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.get(), &request),
        "MPI_Issend");
  return request;
}

}  // namespace tailrace::mpi
