// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <memory>
#include <span>

#include "tailrace/box.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Describes what becomes of a write that somebody else carries out, such as the kernel behind the caller's
/// back.
struct WriteDecision {
  std::size_t bytes;        ///< that the system is given, of those asked for
  int error = 0;            ///< unless 0, the write fails with it and the system is not asked
  double not_before_s = 0;  ///< it begins at this time of `monotonic_s`
  bool kill = false;        ///< the process is killed after it
};

/// The one system call by which samples reach a file. Pacing and faults are decorators of it.
class WriteCall {
 public:
  virtual ~WriteCall() = default;
  /// As pwritev(2): the number of bytes taken, which may be less than asked for, or -1 with errno.
  virtual ssize_t write(int fd, std::span<const iovec> buffers, off_t offset, StepIndex step) = 0;
  /// The same decisions for a write of `bytes` that is not made by `write`. Never waits.
  virtual WriteDecision plan(std::size_t bytes, StepIndex) { return {.bytes = bytes}; }
};

std::unique_ptr<WriteCall> make_plain_call();
/// The real call behind the faults meant for `rank`, in the pace asked for.
std::unique_ptr<WriteCall> make_write_call(const WriteOptions& options, int rank,
                                           std::unique_ptr<WriteCall> real = make_plain_call());
std::unique_ptr<WriteCall> make_paced_call(std::unique_ptr<WriteCall> next, const Pace& pace, int rank);
std::unique_ptr<WriteCall> make_faulty_call(std::unique_ptr<WriteCall> next, const Fault& fault, int rank);

}  // namespace tailrace::output
