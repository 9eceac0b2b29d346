#include "tailrace/mpi/all_to_all.hpp"

#include <limits>

#include "tailrace/base/check.hpp"

namespace tailrace::mpi {

namespace {

/// Parts that lie one behind the other, as MPI wants them.
struct Parts {
  explicit Parts(const std::vector<std::int64_t>& sizes) {
    for (const auto size : sizes) {
      TAILRACE_CHECK(size <= std::numeric_limits<int>::max() - end,
                     "ranks exchange less than 2 GiB at a time");
      counts.push_back(static_cast<int>(size));
      offsets.push_back(static_cast<int>(end));
      end += size;
    }
  }
  std::vector<int> counts, offsets;
  std::int64_t end = 0;
};

}  // namespace

std::vector<std::byte> exchange_bytes(CommView comm, std::span<const std::byte> data,
                                      const std::vector<std::int64_t>& bytes_to) {
  std::vector<std::int64_t> bytes_from(bytes_to.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(
      MPI_Ialltoall(bytes_to.data(), 1, MPI_INT64_T, bytes_from.data(), 1, MPI_INT64_T, comm.get(), &request),
      "MPI_Ialltoall");
  wait_all({&request, 1});
  const Parts to(bytes_to), from(bytes_from);
  std::vector<std::byte> arrived(static_cast<std::size_t>(from.end));
  check(MPI_Ialltoallv(data.data(), to.counts.data(), to.offsets.data(), MPI_BYTE, arrived.data(),
                       from.counts.data(), from.offsets.data(), MPI_BYTE, comm.get(), &request),
        "MPI_Ialltoallv");
  wait_all({&request, 1});
  return arrived;
}

}  // namespace tailrace::mpi
