// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/same_program.hpp"

#include <cstdint>

#include "tailrace/error.hpp"

namespace tailrace::fragments {

void require_same_program(mpi::CommView comm, const Image& image) {
  const auto digest = static_cast<std::int64_t>(image.digest);
  const auto largest = mpi::max(comm, digest), smallest = ~mpi::max(comm, ~digest);
  if (largest != smallest)
    throw Error(ErrorKind::input, "the ranks have programs that differ", "give all ranks the same program");
}

}  // namespace tailrace::fragments
