#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tailrace/output/write_call.hpp"

namespace tailrace::output {

/// An existing file, open for writing at given places.
class RawFile {
 public:
  /// Errors (io): the file cannot be opened.
  RawFile(std::string path, std::unique_ptr<WriteCall> call);
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile();

  /// Puts all pieces, one after the other, at `offset`; goes on after short and interrupted writes. `pieces`
  /// is used up. Errors (io): path, offset of the first byte that was refused, the system's reason.
  void write(std::span<iovec> pieces, std::int64_t offset, StepIndex step);
  /// Puts a few bytes of bookkeeping at `offset`, around pace and faults.
  void write_directly(std::span<const std::byte> bytes, std::int64_t offset);
  /// Has the system begin to move what was written onto the device, without waiting, so that `flush` finds
  /// little to do.
  void start_flush() noexcept;
  /// Waits until everything written is on the device. Errors (io).
  void flush();
  /// Closes and reports a failure, which the destructor cannot. Errors (io).
  void close();

 private:
  [[noreturn]] void fail(const std::string& operation, std::int64_t offset, int error) const;
  void write_all(WriteCall& call, std::span<iovec> pieces, std::int64_t offset, StepIndex step);

  std::string path_;
  std::unique_ptr<WriteCall> call_, plain_call_;
  int fd_ = -1;
};

}  // namespace tailrace::output
