// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/space.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include "base/system.hpp"

namespace tailrace::output {

namespace {

/// Describes what is wanted of a file system, and what it has.
struct FileSystem {
  std::string path;  ///< refers to the file that needs most
  double largest_bytes = 0, needed_bytes = 0, free_bytes = 0, reused_bytes = 0;
};

std::string directory_of(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

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

bool has_space(const std::vector<SpaceNeed>& needs, std::string& warning) {
  std::map<dev_t, FileSystem> systems;
  for (const auto& need : needs) {
    const auto directory = directory_of(need.path);
    struct stat status {};
    struct statvfs system {};
    if (stat(directory.c_str(), &status) != 0 || statvfs(directory.c_str(), &system) != 0) continue;
    auto& sum = systems[status.st_dev];
    sum.free_bytes = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
    sum.needed_bytes += need.bytes;
    if (sum.path.empty() || need.bytes > sum.largest_bytes) {
      sum.path = need.path;
      sum.largest_bytes = need.bytes;
    }
    struct stat old {};
    if (stat(need.path.c_str(), &old) == 0) sum.reused_bytes += 512.0 * static_cast<double>(old.st_blocks);
  }
  bool enough = true;
  for (const auto& [device, system] : systems) {
    const double free = system.free_bytes + system.reused_bytes;
    if (system.needed_bytes <= free) continue;
    if (!warning.empty()) warning += "; ";
    warning += fmt::format("{} needs {}, but its file system has {} free: writes will fail when it is full",
                           system.path, human_bytes(system.needed_bytes), human_bytes(free));
    enough = false;
  }
  return enough;
}

void reserve(const std::string& path, const std::vector<Region>& regions) noexcept {
  if (for_all(path, regions, 0) == ENOSPC) release(path, regions);
}

void release(const std::string& path, const std::vector<Region>& regions) noexcept {
  for_all(path, regions, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
}

}  // namespace tailrace::output
