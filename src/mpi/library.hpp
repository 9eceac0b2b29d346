// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tailrace::mpi {

/// The MPI libraries whose ways we know.
enum class Library : std::uint8_t { open_mpi, mpich, other };

/// The one that this was built with. @local
[[nodiscard]] Library library() noexcept;
[[nodiscard]] inline bool is_open_mpi() noexcept {
  return library() == Library::open_mpi;
}

}  // namespace tailrace::mpi
