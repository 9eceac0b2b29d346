// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/raw_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

const char* hint_for(int error) noexcept {
  switch (error) {
    case ENOSPC:
      return "free space on the file system, write fewer samples, or write to another directory";
    case EDQUOT:
      return "free some of your quota, write fewer samples, or write to another directory";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f) or write to another file system";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions, or write to another directory";
    case EIO:
      return "the device reports a failure: look at the system log, write to another device";
    default:
      return "";
  }
}

/// writev takes no const, and changes nothing.
iovec buffer_of(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT
}

}  // namespace

std::span<iovec> drop_front(std::span<iovec> buffers, std::size_t taken) noexcept {
  while (!buffers.empty() && taken >= buffers.front().iov_len) {
    taken -= buffers.front().iov_len;
    buffers = buffers.subspan(1);
  }
  if (taken > 0) {
    buffers.front().iov_base = static_cast<std::byte*>(buffers.front().iov_base) + taken;
    buffers.front().iov_len -= taken;
  }
  return buffers;
}

Error file_failure(const std::string& path, const std::string& operation, std::int64_t offset, int error) {
  const auto place = offset < 0 ? std::string() : fmt::format(" at byte {}", offset);
  return Error(
      ErrorInfo{.kind = ErrorKind::io,
                .message = fmt::format("{}: {}{} failed: {}", path, operation, place, std::strerror(error)),
                .path = path,
                .offset = offset,
                .hint = hint_for(error)});
}

RawFile::RawFile(std::string path, std::shared_ptr<WriteCall> call, std::shared_ptr<WriteCall> direct_call)
    : path_(std::move(path)), call_(std::move(call)), direct_call_(std::move(direct_call)) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) fail("opening for writing", -1, errno);
}

RawFile::~RawFile() {
  if (fd_ >= 0) ::close(fd_);
}

ErrorInfo RawFile::refusal(const std::string& operation, std::int64_t offset, int error) const {
  return file_failure(path_, operation, offset, error).info();
}

void RawFile::fail(const std::string& operation, std::int64_t offset, int error) const {
  throw RefusedWrite(file_failure(path_, operation, offset, error).info(), error);
}

void RawFile::write_all(WriteCall& call, std::span<iovec> buffers, std::int64_t offset, StepIndex step) {
  buffers = drop_front(buffers, 0);
  unflushed_ = true;
  while (!buffers.empty()) {
    const auto some = buffers.first(std::min<std::size_t>(buffers.size(), IOV_MAX));
    const ssize_t taken = call.write(fd_, some, offset, step);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) fail("writing", offset, errno);
    if (taken == 0)
      fail("writing", offset, ENOSPC);  // nothing taken and no reason given: continuing would never end
    offset += taken;
    buffers = drop_front(buffers, static_cast<std::size_t>(taken));
  }
}

void RawFile::write(std::span<iovec> buffers, std::int64_t offset, StepIndex step) {
  write_all(*call_, buffers, offset, step);
}

void RawFile::write(std::span<const std::byte> bytes, std::int64_t offset, StepIndex step) {
  iovec buffer = buffer_of(bytes);
  write_all(*call_, std::span(&buffer, 1), offset, step);
}

void RawFile::write_directly(std::span<const std::byte> bytes, std::int64_t offset) {
  iovec buffer = buffer_of(bytes);
  write_all(*direct_call_, std::span(&buffer, 1), offset, 0);
}

void RawFile::start_flush() noexcept {
  sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);  // advice: what it cannot do, flush does
}

void RawFile::flush() {
  if (!unflushed_ && !written_elsewhere_) return;
  while (fdatasync(fd_) != 0)
    if (errno != EINTR) fail("flushing to the device", -1, errno);
  unflushed_ = false;
}

void RawFile::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail("closing", -1, errno);
}

}  // namespace tailrace::output
