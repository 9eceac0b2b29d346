// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "output/core/write_call.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

/// Bytes after which the system should begin to move what was written onto the device. Left to itself it
/// keeps gigabytes in memory, and the run would wait for the device at its end.
inline constexpr std::int64_t flush_every_bytes = 16 << 20;

/// Removes the first `taken` bytes from the buffers; returns those left.
std::span<iovec> drop_front(std::span<iovec> buffers, std::size_t taken) noexcept;

/// The failure of an operation on a file (io), with what the user can do about it; `offset` is the byte, or
/// -1.
Error file_failure(const std::string& path, const std::string& operation, std::int64_t offset, int error);

/// A write that the system has refused, with its reason.
class RefusedWrite : public Error {
 public:
  RefusedWrite(ErrorInfo info, int reason) : Error(std::move(info)), reason_(reason) {}
  [[nodiscard]] int reason() const noexcept { return reason_; }

 private:
  int reason_;
};

/// An existing file, open for writing at given places.
class RawFile {
 public:
  /// `direct_call` takes the bytes of `write_directly`. Errors (io): the file cannot be opened.
  /// Files of the same thread may share a call, and with it its pace and its faults.
  RawFile(std::string path, std::shared_ptr<WriteCall> call,
          std::shared_ptr<WriteCall> direct_call = make_plain_call());
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile();

  /// Puts all buffers, one after the other, at `offset`; continues after short and interrupted writes.
  /// `buffers` is used up. Errors (io, `RefusedWrite`): path, offset of the first byte that was refused, the
  /// system's reason.
  void write(std::span<iovec> buffers, std::int64_t offset, StepIndex step);
  /// The same for bytes in one buffer.
  void write(std::span<const std::byte> bytes, std::int64_t offset, StepIndex step);
  /// Puts a few bytes of bookkeeping at `offset`, around pace and faults.
  void write_directly(std::span<const std::byte> bytes, std::int64_t offset);
  /// Has the system begin to move what was written onto the device, without waiting, so that `flush` finds
  /// little to do.
  void start_flush() noexcept;
  /// Waits until everything written is on the device, unless nothing was written since. Errors (io).
  void flush();
  /// Something was put into the file by other means: `flush` has something to do. @local
  void mark_written() noexcept { unflushed_ = true; }
  /// Closes and reports a failure, which the destructor cannot. Errors (io).
  void close();

  /// For a strategy that writes by itself: the open file, and what pace and faults decide about its writes.
  [[nodiscard]] int descriptor() noexcept {
    written_elsewhere_ = true;
    return fd_;
  }
  WriteDecision plan(std::size_t bytes, StepIndex step) { return call_->plan(bytes, step); }
  /// The error of an operation that the system has refused, at a byte or, with -1, as a whole.
  [[nodiscard]] ErrorInfo refusal(const std::string& operation, std::int64_t offset, int error) const;

 private:
  [[noreturn]] void fail(const std::string& operation, std::int64_t offset, int error) const;
  void write_all(WriteCall& call, std::span<iovec> buffers, std::int64_t offset, StepIndex step);

  std::string path_;
  std::shared_ptr<WriteCall> call_, direct_call_;
  int fd_ = -1;
  bool unflushed_ = true;           ///< whoever made the file did not flush it
  bool written_elsewhere_ = false;  ///< nobody says when
};

}  // namespace tailrace::output
