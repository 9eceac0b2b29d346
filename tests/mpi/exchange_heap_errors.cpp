// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include "environment.hpp"
#include "error_of.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/heap.hpp"

using namespace tailrace;
using namespace tailrace::exchange;
using test::error_info_of;

namespace {

/// Two ranks to a node, so that some operations are near and others far.
Heap mixed_heap(mpi::CommView comm) {
  const test::RanksPerNode nodes(2);
  return Heap(comm);
}

}  // namespace

MPI_CASE("places beyond an array are refused where they are named, near or far", ranks{1, 2, 3, 7}) {
  Heap heap = mixed_heap(comm);
  auto x = heap.allocate<std::int32_t>(comm.rank() + 3);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto past = error_info_of(
        [&] { heap.put(x.on(rank, 2), std::vector<std::int32_t>(static_cast<std::size_t>(rank + 2))); });
    CHECK(past.kind == ErrorKind::input);
    CHECK(past.message == "elements 2 to " + std::to_string(rank + 3) + " of an array that has " +
                              std::to_string(rank + 3) + " on rank " + std::to_string(rank));
    CHECK(error_info_of([&] { heap.add(x.on(rank, -1), 1); }).kind == ErrorKind::input);
    CHECK(error_info_of([&] { static_cast<void>(heap.get(x.on(rank, rank + 3))); }).kind == ErrorKind::input);
    const std::vector<std::int64_t> indices{0, 3 + rank};
    CHECK(error_info_of([&] { heap.put_indexed(x.on(rank), indices, std::vector<std::int32_t>(2)); }).kind ==
          ErrorKind::input);
    CHECK(error_info_of([&] {
            heap.put_indexed(x.on(rank), indices, std::vector<std::int32_t>(3));
          }).message == "2 indices for 3 values");
  }
  CHECK(error_info_of([&] { heap.put(x.on(comm.size()), 1); }).message ==
        "rank " + std::to_string(comm.size()) + " of a heap of " + std::to_string(comm.size()) + " ranks");
  heap.barrier_all();
  for (const auto value : x.local()) CHECK(value == 0);
}

MPI_CASE("an array that was freed, or of another heap, is refused on all ranks", ranks{1, 2, 3}) {
  Heap heap = mixed_heap(comm), other = mixed_heap(comm);
  auto x = heap.allocate<double>(4);
  auto y = other.allocate<double>(4);
  const auto foreign = error_info_of([&] { heap.put(y.on(0), 1.0); });
  CHECK(foreign.kind == ErrorKind::input);
  CHECK(foreign.message == "an array of another heap");
  CHECK(error_info_of([&] { heap.free(y); }).message == "an array of another heap");
  heap.free(x);
  CHECK(error_info_of([&] { heap.put(x.on(0), 1.0); }).message == "an array that was freed already");
  const auto twice = error_info_of([&] { heap.free(x); });
  CHECK(twice.kind == ErrorKind::input);
  CHECK(twice.message == "an array that was freed already");
  CHECK(error_info_of([&] { heap.free(Symmetric<double>()); }).message ==
        "an array that no heap has allocated");
  auto again = heap.allocate<double>(4);
  CHECK(error_info_of([&] { heap.put(x.on(0), 1.0); }).kind == ErrorKind::input);
  heap.put(again.on(0), 1.0);
}

MPI_CASE("ranks that do not mean the same all learn it", ranks{2, 3, 7}) {
  Heap heap = mixed_heap(comm);
  auto x = heap.allocate<double>(4), y = heap.allocate<double>(4);
  const bool first = comm.is_root();
  const auto calls = error_info_of([&] {
    if (first) return heap.barrier_all();
    heap.free(x);
  });
  CHECK(calls.kind == ErrorKind::usage);
  CHECK(calls.message == "in call 5 of a heap some ranks are in free, others in barrier_all");
  CHECK(error_info_of([&] { heap.free(first ? x : y); }).message ==
        "in call 6 of a heap, free, the ranks do not mean the same array");
  std::vector<double> values(first ? 2 : 3);
  CHECK(error_info_of([&] { heap.sum(std::span(values)); }).kind == ErrorKind::usage);
  CHECK(error_info_of([&] { heap.broadcast(std::span(values), 0); }).kind == ErrorKind::usage);
  CHECK(error_info_of([&] {
          if (first)
            static_cast<void>(heap.allocate<float>(1));
          else
            static_cast<void>(heap.allocate<double>(1));
        }).kind == ErrorKind::usage);
  heap.free(x);
  heap.free(y);
}

MPI_CASE("no memory, or a negative size, on one rank is the same error on all", ranks{1, 2, 3, 7}) {
  Heap heap = mixed_heap(comm);
  const int bad = comm.size() - 1;
  const auto negative =
      error_info_of([&] { static_cast<void>(heap.allocate<double>(comm.rank() == bad ? -2 : 2)); });
  CHECK(negative.message == "-2 elements on rank " + std::to_string(bad));
#ifndef __SANITIZE_ADDRESS__  // which ends a program that asks for more than there can be
  constexpr std::int64_t enormous = std::int64_t{1} << 50;
  const auto none =
      error_info_of([&] { static_cast<void>(heap.allocate<char>(comm.rank() == bad ? enormous : 2)); });
  CHECK(none.kind == ErrorKind::resource);
  CHECK(none.message == "no memory for 1125899906842624 bytes of a heap on rank " + std::to_string(bad));
#endif
  CHECK(heap.allocate<double>(3).local().size() == 3);
}

MPI_CASE("a rank that does not answer is named", ranks{2, 3}) {
  const test::RanksPerNode nodes(1);
  Heap heap(comm, {.limit_s = 0.3});
  auto x = heap.allocate<double>(4);
  mpi::barrier(comm);  // a rank that is still in `allocate` would answer
  if (comm.is_root()) {
    const auto silent = error_info_of([&] { static_cast<void>(heap.get(x.on(1, 2))); });
    CHECK(silent.kind == ErrorKind::internal);
    CHECK(silent.message ==
          "rank 0 waited 0.3 s for what it wants to read of a heap; still to answer: rank 1");
  }
  mpi::barrier(comm);
}
