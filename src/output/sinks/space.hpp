// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tailrace::output {

/// An extent of a file.
struct Region {
  std::int64_t offset = 0, bytes = 0;
};

/// A file and the bytes that it is going to have.
struct SpaceNeed {
  std::string path;
  double bytes = 0;
};

/// True if the file systems of the files have room for them, what they or their old versions take counted as
/// free, or do not say so. Otherwise `warning` says so.
bool has_space(const std::vector<SpaceNeed>& needs, std::string& warning);

/// Has the file system set blocks aside for the regions, so that a dataset's samples lie side by side on the
/// device and writing them needs no more decisions. Unwritten bytes read as 0 as before. Where that is not
/// possible nothing is set aside.
void reserve(const std::string& path, const std::vector<Region>& regions) noexcept;

/// Gives back the blocks of regions that were never written.
void release(const std::string& path, const std::vector<Region>& regions) noexcept;

}  // namespace tailrace::output
