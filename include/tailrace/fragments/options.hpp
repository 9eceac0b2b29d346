// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tailrace::fragments {

/// How a program is run. Its results do not depend on it.
struct Options {
  /// Threads of each rank that run bodies, from 1 on. With one it is the calling thread, which looks after
  /// messages between two bodies; with more, the calling thread has the messages only.
  int workers = 1;
};

}  // namespace tailrace::fragments
