// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tailrace::checkpoint {

/// Says what a thread that writes takes for itself.
inline constexpr std::size_t thread_bytes = 256 << 10;
/// Says what HDF5 takes for a file: caches of half a MiB in each of two threads that open it, and what
/// describes its objects; as measured.
inline constexpr std::size_t file_bytes = 2 << 20;

}  // namespace tailrace::checkpoint
