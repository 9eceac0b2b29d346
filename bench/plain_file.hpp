// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/system.hpp"

/// Describes what a single stream of plain writes and reads takes: the yardstick for everything that does
/// more. Bytes come from memory as large as the file and go there, as those of a state do: a batch that is
/// used again and again would stay in the processor's cache.
namespace tailrace::bench {

/// Most bytes of a write or read.
inline constexpr std::size_t plain_batch = std::size_t{8} << 20;

class PlainFile {
 public:
  PlainFile(std::string path, std::int64_t bytes)
      : path_(std::move(path)), content_(static_cast<std::size_t>(bytes), std::byte{42}) {}
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() { unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  struct Written {
    double written_s = 0, durable_s = 0;
  };
  /// Makes the file anew: seconds until the system has all bytes, and until the device has them.
  Written write() {
    unlink(path_.c_str());
    const double start_s = monotonic_s();
    const int fd = open_as(O_WRONLY | O_CREAT | O_TRUNC);
    for (std::size_t at = 0; at < content_.size();)
      at += checked(pwrite(fd, &content_[at], batch_at(at), place(at)));
    const double written_s = monotonic_s() - start_s;
    checked(fsync(fd));
    const double durable_s = monotonic_s() - start_s;
    close(fd);
    return {written_s, durable_s};
  }
  /// Seconds of reading all of it.
  double read() {
    const double start_s = monotonic_s();
    const int fd = open_as(O_RDONLY);
    for (std::size_t at = 0; at < content_.size();)
      at += checked(pread(fd, &content_[at], batch_at(at), place(at)));
    close(fd);
    return monotonic_s() - start_s;
  }

 private:
  static std::size_t checked(ssize_t result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "plain file");
    return static_cast<std::size_t>(result);
  }
  static off_t place(std::size_t at) noexcept { return static_cast<off_t>(at); }
  [[nodiscard]] int open_as(int flags) const {
    return static_cast<int>(checked(open(path_.c_str(), flags | O_CLOEXEC, 0666)));
  }
  [[nodiscard]] std::size_t batch_at(std::size_t at) const noexcept {
    return std::min(plain_batch, content_.size() - at);
  }

  std::string path_;
  std::vector<std::byte> content_;
};

/// Has the system forget a file's bytes, which are on the device: the next read fetches them from there.
inline void drop_from_cache(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
}

/// Bytes that this process has read from files so far.
inline std::int64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::int64_t bytes = 0;
  io >> name >> bytes;
  return bytes;
}

}  // namespace tailrace::bench
