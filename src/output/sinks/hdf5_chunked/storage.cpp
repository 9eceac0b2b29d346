// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <vector>

namespace tailrace::output {

namespace {

bool begins_with(const std::byte* page, const char* text) noexcept {
  return std::memcmp(page, text, std::strlen(text)) == 0;
}

/// When a changed page is due: the superblock first, as readers believe nothing behind the end that it names,
/// then the nodes of chunk indices by their level from the roots down, which follows a node's signature and
/// type (HDF5 format, version 1 B-trees), then the rest.
int turn_of(const std::byte* page) noexcept {
  constexpr std::size_t level_at = 5;
  constexpr int levels = 256;
  if (begins_with(page, "\211HDF")) return 0;
  return begins_with(page, "TREE") ? levels - std::to_integer<int>(page[level_at]) : levels + 1;
}

}  // namespace

PagedStorage::PagedStorage(std::string path, std::unique_ptr<WriteCall> call)
    : path_(std::move(path)), file_(path_, std::move(call)) {
  fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0)
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: opening failed: {}", path_, std::strerror(errno)),
                          .path = path_,
                          .hint = {}});
  disk_bytes_ = committed_bytes_ = status.st_size;
}

PagedStorage::~PagedStorage() {
  if (fd_ >= 0) close(fd_);
}

std::int64_t PagedStorage::size_bytes() const noexcept {
  return changed_.empty() ? disk_bytes_ : std::max(disk_bytes_, (changed_.rbegin()->first + 1) * page_bytes);
}

bool PagedStorage::read_file(std::int64_t offset, std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    const ssize_t got = pread(fd_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  std::fill(out.begin(), out.end(), std::byte{0});
  return true;
}

bool PagedStorage::read(std::int64_t offset, std::span<std::byte> out) noexcept {
  if (!read_file(offset, out)) return false;
  const std::int64_t end = offset + static_cast<std::int64_t>(out.size());
  for (auto page = changed_.lower_bound(offset / page_bytes);
       page != changed_.end() && page->first * page_bytes < end; ++page) {
    const std::int64_t from = std::max(offset, page->first * page_bytes),
                       to = std::min(end, (page->first + 1) * page_bytes);
    std::memcpy(out.data() + (from - offset), page->second.data() + from % page_bytes,
                static_cast<std::size_t>(to - from));
  }
  return true;
}

void PagedStorage::keep_failure() noexcept {
  if (!failure_) failure_ = describe_current_exception();
}

void PagedStorage::write(std::int64_t offset, std::span<const std::byte> bytes, Content content) noexcept {
  try {
    if (content == Content::values)
      write_values(offset, bytes);
    else
      write_structure(offset, bytes);
  } catch (...) {
    keep_failure();
  }
}

void PagedStorage::write_values(std::int64_t offset, std::span<const std::byte> bytes) {
  const std::int64_t end = offset + static_cast<std::int64_t>(bytes.size());
  // Small values may share a page with structure, which the next commit writes as a whole.
  for (auto page = changed_.lower_bound(offset / page_bytes);
       page != changed_.end() && page->first * page_bytes < end; ++page) {
    const std::int64_t from = std::max(offset, page->first * page_bytes),
                       to = std::min(end, (page->first + 1) * page_bytes);
    std::memcpy(page->second.data() + from % page_bytes, bytes.data() + (from - offset),
                static_cast<std::size_t>(to - from));
  }
  if (failure_) return;
  if (bookkeeping_) {
    file_.write_directly(bytes, offset);
  } else {
    iovec buffer{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT: only read
    file_.write(std::span(&buffer, 1), offset, step_);
  }
  disk_bytes_ = std::max(disk_bytes_, end);
}

PagedStorage::Page& PagedStorage::changed_page(std::int64_t number) {
  const auto [page, is_new] = changed_.try_emplace(number);
  if (is_new && !read_file(number * page_bytes, page->second))
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: reading at byte {} failed: {}", path_,
                                                 number * page_bytes, std::strerror(errno)),
                          .path = path_,
                          .offset = number * page_bytes,
                          .hint = {}});
  return page->second;
}

void PagedStorage::write_structure(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto within = static_cast<std::size_t>(offset % page_bytes);
    const std::size_t count = std::min(bytes.size(), static_cast<std::size_t>(page_bytes) - within);
    std::memcpy(changed_page(offset / page_bytes).data() + within, bytes.data(), count);
    bytes = bytes.subspan(count);
    offset += static_cast<std::int64_t>(count);
  }
}

void PagedStorage::commit(std::int64_t size_bytes) noexcept {
  if (failure_) return;
  try {
    if (disk_bytes_ < size_bytes) resize(size_bytes);  // HDF5 refuses a file shorter than it says itself
    write_pages(size_bytes);
    if (disk_bytes_ > size_bytes) resize(size_bytes);
    committed_bytes_ = size_bytes;
    changed_.clear();
  } catch (...) {
    keep_failure();
  }
}

void PagedStorage::write_pages(std::int64_t size_bytes) {
  std::vector<std::tuple<bool, int, std::int64_t>> order;  // pages of the last commit after new ones
  for (const auto& [number, page] : changed_)
    if (number * page_bytes < size_bytes)
      order.emplace_back(number * page_bytes < committed_bytes_, turn_of(page.data()), number);
  std::sort(order.begin(), order.end());
  for (const auto& [old, turn, number] : order) {
    const std::int64_t offset = number * page_bytes, bytes = std::min(page_bytes, size_bytes - offset);
    file_.write_directly(std::span(changed_.at(number)).first(static_cast<std::size_t>(bytes)), offset);
  }
}

void PagedStorage::resize(std::int64_t size_bytes) {
  if (ftruncate(fd_, size_bytes) != 0)
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: setting the size of the file to {} failed: {}", path_,
                                                 size_bytes, std::strerror(errno)),
                          .path = path_,
                          .offset = size_bytes,
                          .hint = {}});
  disk_bytes_ = size_bytes;
}

void PagedStorage::cut_off_rest() noexcept {
  if (disk_bytes_ > committed_bytes_ && ftruncate(fd_, committed_bytes_) == 0) disk_bytes_ = committed_bytes_;
}

}  // namespace tailrace::output
