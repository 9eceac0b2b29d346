// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace tailrace::fragments {

/// How a program is run. Its results do not depend on it.
struct Options {
  /// Threads of each rank that run bodies, from 1 on. With one it is the calling thread, which looks after
  /// messages between two bodies; with more, the calling thread has the messages only.
  int workers = 1;
  /// Fragments that a rank has at a time, and bytes of data fragments, beyond which it creates no more unless
  /// nothing else can proceed.
  std::int64_t live_fragments = 100'000;
  std::int64_t live_bytes = std::numeric_limits<std::int64_t>::max();
  /// How fragments come to ranks that have nothing to do: `off`, not at all; `steal`, those ask others for
  /// fragments that have no recommended rank, or are `stealable`.
  std::string balance = "off";
};

}  // namespace tailrace::fragments
