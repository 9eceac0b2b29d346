#include "input_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tailrace/base/error.hpp"

namespace tailrace::checkpoint {

namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& path, const std::string& what,
                       const std::string& hint) {
  throw Error(
      ErrorInfo{.kind = kind, .message = fmt::format("{}: {}", path, what), .path = path, .hint = hint});
}

/// Whether a call was only interrupted.
bool interrupted(ssize_t result) noexcept {
  return result < 0 && errno == EINTR;
}

}  // namespace

InputBytes::InputBytes(std::string path) : path_(std::move(path)) {
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0)
    fail(ErrorKind::input, path_, fmt::format("cannot be read: {}", std::strerror(errno)),
         "go on from another checkpoint");
  size_ = status.st_size;
}

InputBytes::~InputBytes() {
  if (fd_ >= 0) ::close(fd_);
}

void InputBytes::read(std::int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const auto got = pread(fd_, out.data(), out.size(), offset);
    if (interrupted(got)) continue;
    if (got < 0)
      fail(ErrorKind::io, path_, fmt::format("cannot be read at byte {}: {}", offset, std::strerror(errno)),
           "check the device");
    if (got == 0)
      fail(ErrorKind::input, path_, fmt::format("ends at byte {}", offset), "go on from another checkpoint");
    offset += got;
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

void write_durably(const std::string& path, const std::string& text) {
  const char* const hint = "check the permissions of the directory and the space on its device";
  const auto refuse = [&] {
    fail(ErrorKind::io, path, fmt::format("cannot be written: {}", std::strerror(errno)), hint);
  };
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) refuse();
  bool written = true;
  for (std::size_t done = 0; written && done < text.size();) {
    const auto some = write(fd, text.data() + done, text.size() - done);
    if (interrupted(some)) continue;
    written = some > 0;
    if (written) done += static_cast<std::size_t>(some);
  }
  written = written && fsync(fd) == 0;
  const int error = errno;
  written = ::close(fd) == 0 && written;
  if (written) return;
  errno = error;
  refuse();
}

}  // namespace tailrace::checkpoint
