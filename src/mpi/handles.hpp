// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// What MPI gives out for its objects, with room for that of any MPI library, so that no header needs MPI's;
/// beside `Request` and `CommHandle` of tailrace/comm.hpp.
namespace tailrace::mpi {

enum class DatatypeHandle : std::uint64_t { none };
enum class MessageHandle : std::uint64_t { none };
enum class WindowHandle : std::uint64_t { none };
enum class GroupHandle : std::uint64_t { none };
enum class InfoHandle : std::uint64_t { none };
enum class FileHandle : std::uint64_t { none };

}  // namespace tailrace::mpi
