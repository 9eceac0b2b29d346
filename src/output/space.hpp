#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tailrace::output {

/// A stretch of a file.
struct Region {
  std::int64_t offset = 0, bytes = 0;
};

/// True if the file system of `path` has room for `bytes` more, those of the file's old version counted as
/// free, or does not tell. Otherwise `warning` says so.
bool has_space(const std::string& path, double bytes, std::string& warning);

/// Has the file system set blocks aside for the regions, so that a dataset's samples lie side by side on the
/// device and writing them needs no more decisions. Unwritten bytes read as 0 as before. Where that is not
/// possible nothing is set aside.
void reserve(const std::string& path, const std::vector<Region>& regions) noexcept;

/// Gives back the blocks of regions that were never written.
void release(const std::string& path, const std::vector<Region>& regions) noexcept;

}  // namespace tailrace::output
