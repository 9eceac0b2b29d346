// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/message.hpp"

#include <array>
#include <numeric>

#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

MPI_CASE("a block arrives in another shape", ranks{1, 2, 3}) {
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  const mpi::BlockType strided(
      {.row_bytes = 2, .rows = 3, .planes = 2, .row_distance_bytes = 4, .plane_distance_bytes = 16});
  const mpi::BlockType dense({.row_bytes = 12});
  std::array<std::byte, 32> source{};
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i);
  std::array<std::byte, 12> target{};
  std::array requests{mpi::start_receive(comm, target.data(), dense.get(), before, 3),
                      mpi::start_send(comm, source.data(), strided.get(), next, 3)};
  mpi::wait_all(requests);
  const std::array<int, 12> expected{0, 1, 4, 5, 8, 9, 16, 17, 20, 21, 24, 25};
  for (std::size_t i = 0; i < target.size(); ++i) CHECK(static_cast<int>(target[i]) == expected[i]);
}

MPI_CASE("abandoned receives are left alone by later messages", ranks{2}) {
  const mpi::Comm own = mpi::Comm::duplicate(comm);
  const mpi::BlockType byte({.row_bytes = 1});
  const int other = 1 - comm.rank();
  std::byte untouched{1}, arrived{0};
  std::array receive{mpi::start_receive(own, &untouched, byte.get(), other, 9)};
  mpi::abandon(receive, {});
  mpi::barrier(comm);
  const std::byte sent{2};
  std::array requests{mpi::start_receive(own, &arrived, byte.get(), other, 9),
                      mpi::start_send(own, &sent, byte.get(), other, 9)};
  mpi::wait_all(requests);
  CHECK(static_cast<int>(untouched) == 1);
  CHECK(static_cast<int>(arrived) == 2);
}

MPI_CASE("a message has a size that MPI can count", ranks{1}) {
  CHECK_THROWS_AS(mpi::BlockType({.row_bytes = 0}), Error);
  CHECK_THROWS_AS(
      mpi::BlockType({.row_bytes = std::int64_t{1} << 20, .rows = 4096, .row_distance_bytes = 1 << 20}),
      Error);
}
