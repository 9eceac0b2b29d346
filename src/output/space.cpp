#include "space.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tailrace/base/system.hpp"

namespace tailrace::output {

namespace {

/// Calls fallocate(2) on all regions, of a file that exists; the first refusal ends it. Returns its errno, or
/// 0.
int for_all(const std::string& path, const std::vector<Region>& regions, int mode) noexcept {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = 0;
  for (const auto& region : regions) {
    if (region.bytes <= 0) continue;
    while ((error = fallocate(fd, mode, region.offset, region.bytes) == 0 ? 0 : errno) == EINTR) {
    }
    if (error != 0) break;
  }
  close(fd);
  return error;
}

}  // namespace

bool has_space(const std::string& path, double bytes, std::string& warning) {
  const auto directory = std::filesystem::path(path).parent_path();
  struct statvfs system {};
  if (statvfs(directory.empty() ? "." : directory.c_str(), &system) != 0) return true;
  struct stat old {};
  const double reused = stat(path.c_str(), &old) == 0 ? 512.0 * static_cast<double>(old.st_blocks) : 0.0;
  const double free = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize) + reused;
  if (bytes <= free) return true;
  warning = fmt::format("{} needs {}, but its file system has {} free: the run will fail when it is full",
                        path, human_bytes(bytes), human_bytes(free));
  return false;
}

void reserve(const std::string& path, const std::vector<Region>& regions) noexcept {
  if (for_all(path, regions, 0) == ENOSPC) release(path, regions);
}

void release(const std::string& path, const std::vector<Region>& regions) noexcept {
  for_all(path, regions, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
}

}  // namespace tailrace::output
