// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collective.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/check.hpp"
#include "mpi/native.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

namespace {

MPI_Op operation_of(Combination how) {
  return how == Combination::sum ? MPI_SUM : how == Combination::min ? MPI_MIN : MPI_MAX;
}

int count_of(std::size_t size) {
  TAILRACE_CHECK(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                 "a collective operation moves at most 2^31 - 1 numbers");
  return static_cast<int>(size);
}

template <class T>
Request combine(CommView comm, std::span<T> values, MPI_Datatype type, Combination how) {
  Request request = Request::none;
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), count_of(values.size()), type, operation_of(how),
                       comm.get(), Lent(request)),
        "MPI_Iallreduce");
  return request;
}

}  // namespace

Request start_combining(CommView comm, std::span<float> values, Combination how) {
  return combine(comm, values, MPI_FLOAT, how);
}
Request start_combining(CommView comm, std::span<double> values, Combination how) {
  return combine(comm, values, MPI_DOUBLE, how);
}
Request start_combining(CommView comm, std::span<std::int32_t> values, Combination how) {
  return combine(comm, values, MPI_INT32_T, how);
}
Request start_combining(CommView comm, std::span<std::int64_t> values, Combination how) {
  return combine(comm, values, MPI_INT64_T, how);
}

Request start_broadcast(CommView comm, std::span<std::byte> bytes, int root) {
  Request request = Request::none;
  check(MPI_Ibcast(bytes.data(), count_of(bytes.size()), MPI_BYTE, root, comm.get(), Lent(request)),
        "MPI_Ibcast");
  return request;
}

Blocks::Blocks(std::span<const std::int64_t> bytes_of_rank) {
  for (const std::int64_t bytes : bytes_of_rank) {
    places_.push_back(static_cast<int>(total_));
    total_ += bytes;
    if (bytes < 0 || total_ > std::numeric_limits<int>::max())
      throw Error(ErrorKind::resource, fmt::format("a collective operation of {} bytes on one rank", total_),
                  "at most 2^31 - 1 bytes at once");
    counts_.push_back(static_cast<int>(bytes));
  }
}

Request start_collecting(CommView comm, std::span<const std::byte> mine, std::span<std::byte> all,
                         const Blocks& blocks) {
  Request request = Request::none;
  check(MPI_Iallgatherv(mine.data(), count_of(mine.size()), MPI_BYTE, all.data(), blocks.counts().data(),
                        blocks.places().data(), MPI_BYTE, comm.get(), Lent(request)),
        "MPI_Iallgatherv");
  return request;
}

Request start_all_to_all(CommView comm, std::span<const std::byte> out, const Blocks& sent,
                         std::span<std::byte> in, const Blocks& received) {
  Request request = Request::none;
  check(
      MPI_Ialltoallv(out.data(), sent.counts().data(), sent.places().data(), MPI_BYTE, in.data(),
                     received.counts().data(), received.places().data(), MPI_BYTE, comm.get(), Lent(request)),
      "MPI_Ialltoallv");
  return request;
}

}  // namespace tailrace::mpi
