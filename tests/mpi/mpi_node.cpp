// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/node.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "environment.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

namespace {

/// Fills this rank's part, then looks at those of all ranks of the node.
std::int64_t wrong_in(const mpi::Node& node, std::size_t bytes, std::uint8_t salt) {
  auto memory = mpi::SharedMemory::allocate(node, bytes);
  REQUIRE(memory);
  const auto value = [&](int rank) { return static_cast<std::byte>(31 * rank + salt); };
  CHECK(reinterpret_cast<std::uintptr_t>(memory->part(node.comm().rank())) % 4096 == 0);
  std::fill_n(memory->part(node.comm().rank()), bytes, value(node.comm().rank()));
  memory->fence();
  mpi::barrier(node.comm());
  memory->fence();
  std::int64_t wrong = 0;
  for (int rank = 0; rank < node.comm().size(); ++rank)
    wrong += static_cast<std::int64_t>(bytes) -
             std::count(memory->part(rank), memory->part(rank) + bytes, value(rank));
  return wrong;
}

}  // namespace

MPI_CASE("ranks of one machine see each other's memory", ranks{1, 2, 3, 4, 7}) {
  const mpi::Node node(comm);
  CHECK(node.comm().size() == comm.size());
  for (int rank = 0; rank < comm.size(); ++rank) CHECK(node.ranks()[static_cast<std::size_t>(rank)] == rank);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{100001}})
    CHECK(wrong_in(node, bytes, 5) == 0);
}

MPI_CASE("a rank may have nothing to share", ranks{2, 3}) {
  const mpi::Node node(comm);
  auto memory = mpi::SharedMemory::allocate(node, comm.is_root() ? 0 : 64);
  REQUIRE(memory);
}

MPI_CASE("nodes can be made smaller than they are", ranks{1, 3, 7}) {
  const test::RanksPerNode limit("2");
  const mpi::Node node(comm);
  const int first = comm.rank() / 2 * 2;
  CHECK(node.comm().size() == std::min(2, comm.size() - first));
  CHECK(node.ranks().front() == first);
  CHECK(wrong_in(node, 5000, 7) == 0);
  CHECK(mpi::Node::alone(comm).ranks() == std::vector<int>{comm.rank()});
}

MPI_CASE("a size of nodes that is none is refused", ranks{1, 2}) {
  for (const char* value : {"0", "-1", "two", "2x", ""}) {
    const test::RanksPerNode limit(value);
    CHECK_THROWS_AS(mpi::Node{comm}, Error);
  }
}

MPI_CASE("pages of shared memory are taken when it is allocated", ranks{1, 3}) {
  constexpr std::size_t page = 4096, pages = 50;
  const mpi::Node node(comm);
  const auto memory = mpi::SharedMemory::allocate(node, pages * page);
  REQUIRE(memory);
  std::vector<unsigned char> resident(pages);
  REQUIRE(::mincore(memory->part(node.comm().rank()), pages * page, resident.data()) == 0);
  CHECK(std::count_if(resident.begin(), resident.end(), [](unsigned char one) { return one % 2 == 1; }) ==
        pages);
}

MPI_CASE("memory that the system has not is refused, and touching it ends nobody", ranks{1}) {
  constexpr std::size_t page = 4096;
  const int file = ::memfd_create("short", 0);
  REQUIRE(::ftruncate(file, page) == 0);
  void* const mapped = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  auto* const first = static_cast<std::byte*>(mapped);
  CHECK(mpi::reserve(first, page));
  CHECK(!mpi::reserve(first, 2 * page));  // behind the end of the file, as where a file system is full
  ::munmap(mapped, 2 * page);
  ::close(file);
}
