// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <malloc.h>

#include <cstdint>

namespace tailrace::bench {

/// Has all threads of this process take memory from one arena, which is the one that `heap_bytes` sees. To be
/// called before there are threads. @local
inline void use_one_arena() noexcept {
  mallopt(M_ARENA_MAX, 1);
}

/// Bytes that the C library has given out, with what it needs to find them again. @local
inline std::int64_t heap_bytes() noexcept {
  const auto info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace tailrace::bench
