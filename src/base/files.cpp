// SPDX-License-Identifier: BSD-3-Clause
#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tailrace {

namespace {

Error error_of(ErrorKind kind, const std::string& path, const std::string& what, const std::string& remedy) {
  return Error(
      ErrorInfo{.kind = kind, .message = fmt::format("{}: {}", path, what), .path = path, .hint = remedy});
}

/// That a file cannot be made or replaced.
[[noreturn]] void refuse(const std::string& path, const char* what, int error) {
  throw error_of(ErrorKind::io, path, fmt::format("{}: {}", what, std::strerror(error)),
                 "check the permissions of the directory and the space on its device");
}

/// Returns whether a call was only interrupted.
bool interrupted(ssize_t result) noexcept {
  return result < 0 && errno == EINTR;
}

/// Writes everything and flushes it; false leaves the reason in errno.
bool write_all(int fd, const std::string& text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    const auto some = write(fd, text.data() + done, text.size() - done);
    if (interrupted(some)) continue;
    if (some <= 0) return false;
    done += static_cast<std::size_t>(some);
  }
  return fsync(fd) == 0;
}

}  // namespace

Error file_error(const std::string& path, const std::string& what, const std::string& remedy) {
  return error_of(ErrorKind::input, path, what, remedy);
}

InputFile::InputFile(std::string path, std::string remedy)
    : path_(std::move(path)), remedy_(std::move(remedy)) {
  file_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // it may be a pipe
  if (file_ < 0)
    throw file_error(path_, fmt::format("cannot be opened: {}", std::strerror(errno)),
                     "name a file that is there and may be read");
  struct stat status {};
  if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_bytes_ = status.st_size;
    return;
  }
  close(file_);
  throw file_error(path_, "is no regular file", "name a file");
}

InputFile::~InputFile() {
  close(file_);
}

void InputFile::read(std::int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const auto taken = pread(file_, out.data(), out.size(), offset);
    if (interrupted(taken)) continue;
    if (taken < 0)
      throw error_of(ErrorKind::io, path_,
                     fmt::format("cannot be read at byte {}: {}", offset, std::strerror(errno)),
                     "check the device");
    if (taken == 0)
      throw file_error(path_, fmt::format("ends at byte {}, where more is expected", offset), remedy_);
    offset += taken;
    bytes_read_ += taken;
    out = out.subspan(static_cast<std::size_t>(taken));
  }
}

void write_durably(const std::string& path, const std::string& text) {
  constexpr const char* what = "cannot be written";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) refuse(path, what, errno);
  const int error = write_all(fd, text) ? 0 : errno;
  const bool closed = close(fd) == 0;
  if (error != 0 || !closed) refuse(path, what, error != 0 ? error : errno);
}

void replace_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) refuse(to, "cannot be replaced", errno);
  const auto directory = std::filesystem::path(to).parent_path();
  const int fd = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a directory that may be written but not read, or a system without such a thing
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  if (error != 0 && error != EINVAL && error != ENOTSUP) refuse(to, "its directory cannot be flushed", error);
}

}  // namespace tailrace
