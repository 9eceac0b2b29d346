// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/file_extents.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "h5/file.hpp"

namespace tailrace::output {

namespace {

/// As in the HDF5 file itself (h5::File::create), for the page cache's sake.
constexpr std::int64_t aligned_from_bytes = 256 << 10, alignment = 64 << 10, element_alignment = 8;
/// An HDF5 dataset lists its parts in one message of its header, which holds 64 KiB, 24 bytes for each.
constexpr std::int64_t max_stripes = 2000;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

FileExtents one_extent(std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return {};
  return {{.first = 0, .bytes = bytes, .file = 0, .offset = offset}};
}

FileExtent from_byte(const FileExtents& extents, std::int64_t at) {
  const auto behind = std::upper_bound(extents.begin(), extents.end(), at,
                                       [](std::int64_t byte, const FileExtent& s) { return byte < s.first; });
  TAILRACE_CHECK(behind != extents.begin(), "the byte lies in the dataset");
  FileExtent rest = *std::prev(behind);
  const std::int64_t skipped = at - rest.first;
  TAILRACE_CHECK(skipped < rest.bytes, "the byte lies in the dataset");
  rest.first = at;
  rest.bytes -= skipped;
  rest.offset += skipped;
  return rest;
}

Stripes::Stripes(std::size_t files, std::int64_t head_bytes, std::int64_t stripe_bytes)
    : ends_(files, head_bytes), stripe_bytes_(stripe_bytes) {}

FileExtents Stripes::add(std::int64_t bytes) {
  const std::int64_t least = round_up((bytes + max_stripes - 1) / max_stripes, alignment);
  const std::int64_t stripe = ends_.size() == 1 ? bytes : std::max(stripe_bytes_, least);
  const std::int64_t unit = bytes >= aligned_from_bytes ? alignment : element_alignment;
  FileExtents extents;
  std::size_t file = datasets_++ % ends_.size();
  for (auto& end : ends_) end = round_up(end, unit);
  for (std::int64_t first = 0; first < bytes; first += stripe) {
    const std::int64_t count = std::min(stripe, bytes - first);
    extents.push_back({.first = first, .bytes = count, .file = file + 1, .offset = ends_[file]});
    ends_[file] += count;
    file = (file + 1) % ends_.size();
  }
  return extents;
}

}  // namespace tailrace::output
