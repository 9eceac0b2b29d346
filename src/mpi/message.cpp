// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/message.hpp"

#include <climits>

#include "base/check.hpp"
#include "mpi/native.hpp"

namespace tailrace::mpi {

static int source_of(int from) noexcept {
  return from == any_source ? MPI_ANY_SOURCE : from;
}

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
  const int code = MPI_Type_create_hvector(static_cast<int>(shape.planes), 1, shape.plane_distance_bytes,
                                           plane, Lent(type_));
  MPI_Type_free(&plane);
  check(code, "MPI_Type_create_hvector");
  check(MPI_Type_commit(Lent(type_)), "MPI_Type_commit");
}

BlockType::~BlockType() {
  if (type_ != DatatypeHandle::none) MPI_Type_free(Lent(type_));
}

Request start_send(CommView comm, const std::byte* first, DatatypeHandle block, int to, int tag) {
  Request request = Request::none;
  check(MPI_Isend(first, 1, native(block), to, tag, comm.get(), Lent(request)), "MPI_Isend");
  return request;
}

Request start_receive(CommView comm, std::byte* first, DatatypeHandle block, int from, int tag) {
  Request request = Request::none;
  check(MPI_Irecv(first, 1, native(block), source_of(from), tag, comm.get(), Lent(request)), "MPI_Irecv");
  return request;
}

Request start_send(CommView comm, std::span<const std::byte> bytes, int to, int tag) {
  TAILRACE_CHECK(bytes.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  Request request = Request::none;
  check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.get(), Lent(request)),
        "MPI_Isend");
  return request;
}

Request start_receive(CommView comm, std::span<std::byte> out, int from, int tag) {
  TAILRACE_CHECK(out.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  Request request = Request::none;
  check(MPI_Irecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, source_of(from), tag, comm.get(),
                  Lent(request)),
        "MPI_Irecv");
  return request;
}

Request prepare_send(CommView comm, std::span<const std::byte> bytes, int to, int tag) {
  TAILRACE_CHECK(bytes.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  Request request = Request::none;
  check(MPI_Send_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.get(),
                      Lent(request)),
        "MPI_Send_init");
  return request;
}

Request prepare_receive(CommView comm, std::span<std::byte> out, int from, int tag) {
  TAILRACE_CHECK(out.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  Request request = Request::none;
  check(MPI_Recv_init(out.data(), static_cast<int>(out.size()), MPI_BYTE, source_of(from), tag, comm.get(),
                      Lent(request)),
        "MPI_Recv_init");
  return request;
}

void start(Request& prepared) {
  check(MPI_Start(Lent(prepared)), "MPI_Start");
}

void free_request(Request& request) noexcept {
  if (request != Request::none) MPI_Request_free(Lent(request));
}

std::span<const int> test_some(std::span<Request> requests, std::vector<int>& numbers) {
  numbers.resize(requests.size());
  std::size_t found = 0;
  for_each_batch(requests, [&](LentRequests& lent, std::size_t first) {
    int count = 0;
    const std::span<int> here = std::span(numbers).subspan(found);
    check(MPI_Testsome(lent.size(), lent.data(), &count, here.data(), MPI_STATUSES_IGNORE), "MPI_Testsome");
    if (count == MPI_UNDEFINED) return true;
    for (int& number : here.first(static_cast<std::size_t>(count))) number += static_cast<int>(first);
    found += static_cast<std::size_t>(count);
    return true;
  });
  return std::span(numbers).first(found);
}

std::optional<ReceivedBy> test_receives(std::span<Request> requests) {
  std::optional<ReceivedBy> found;
  for_each_batch(requests, [&](LentRequests& lent, std::size_t first) {
    int done = 0, bytes = 0, index = MPI_UNDEFINED;
    MPI_Status status;
    check(MPI_Testany(lent.size(), lent.data(), &index, &done, &status), "MPI_Testany");
    if (done == 0 || index == MPI_UNDEFINED) return true;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    found = ReceivedBy{first + static_cast<std::size_t>(index), {status.MPI_SOURCE, bytes}};
    return false;
  });
  return found;
}

std::optional<Arrival> find_arrival(CommView comm, int tag) {
  int found = 0, bytes = 0;
  Arrival arrival;
  MPI_Status status;
  check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm.get(), &found, Lent(arrival.handle), &status), "MPI_Improbe");
  if (found == 0) return {};
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  arrival.source = status.MPI_SOURCE;
  arrival.bytes = bytes;
  return arrival;
}

Request start_receive(const Arrival& arrival, std::span<std::byte> out) {
  TAILRACE_CHECK(static_cast<std::int64_t>(out.size()) == arrival.bytes, "room for the message");
  Request request = Request::none;
  MPI_Message handle = native(arrival.handle);
  check(MPI_Imrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, &handle, Lent(request)), "MPI_Imrecv");
  return request;
}

std::vector<std::byte> receive(const Arrival& arrival) {
  std::vector<std::byte> message(static_cast<std::size_t>(arrival.bytes));
  Request request = start_receive(arrival, message);
  wait_all(std::span(&request, 1));
  return message;
}

Request start_synchronous_send(CommView comm, std::span<const std::byte> bytes, int to, int tag) {
  TAILRACE_CHECK(bytes.size() <= INT_MAX, "a message has at most 2^31 - 1 bytes");
  Request request = Request::none;
  check(
      MPI_Issend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.get(), Lent(request)),
      "MPI_Issend");
  return request;
}

}  // namespace tailrace::mpi
