// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/topology.hpp"

namespace tailrace::output {

/// Describes what came of an operation.
struct Completion {
  std::uint64_t tag = 0;
  std::int64_t result = 0;  ///< bytes taken, or the negative errno
};

/// Operations on open files that somebody else carries out behind the caller's back, in any order. One thread
/// uses it. Its functions throw `Error` (io) when the queue itself has broken.
class AsyncQueue {
 public:
  /// Stops what can be stopped; to be called when nothing is under way.
  virtual ~AsyncQueue() = default;

  /// Operations that may be under way at once.
  static constexpr std::size_t max_under_way = 1024;

  /// Puts the buffers, which stay where they are until it is done, at `offset` of a file, not before a time
  /// of `monotonic_s`, 0 for at once.
  virtual void write(std::uint64_t tag, std::size_t file, std::span<const iovec> buffers, std::int64_t offset,
                     double not_before_s) = 0;
  /// Does nothing but end at a time of `monotonic_s`, with whatever result.
  virtual void pause(std::uint64_t tag, double until_s) = 0;
  /// Puts what was written before onto the device.
  virtual void flush(std::uint64_t tag, std::size_t file) = 0;
  /// Has the system begin with that; nobody is informed when it is done.
  virtual void start_flush(std::size_t file) = 0;
  /// Hands everything over that was asked for since the last call. Does not wait for it.
  virtual void submit() = 0;
  /// An operation that is done, if there is one. Does not wait.
  virtual std::optional<Completion> next() = 0;
  /// As `submit`, then waits until an operation is done or a signal comes.
  virtual void wait() = 0;
  /// CPU seconds that have gone into the operations outside the caller's thread, as far as is known.
  virtual double cpu_s() = 0;
};

/// Why the kernel has none for this process, or nothing.
std::string kernel_queue_obstacle();

/// The queue of the Linux kernel, io_uring, for these files; what is written from `memory` need not be looked
/// up page by page if the kernel agrees. The kernel's workers run on `cpus`; where the caller does, if there
/// are none. Errors (io): why there is none.
std::unique_ptr<AsyncQueue> open_kernel_queue(const std::vector<int>& files, std::span<std::byte> memory,
                                              const Cpus& cpus);

}  // namespace tailrace::output
