// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "h5/file.hpp"
#include "h5/storage.hpp"
#include "output/core/raw_file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

/// A file whose structure reaches it only when it fits together, so that a reader finds a valid file at every
/// instant, also after this process was killed.
///
/// Values are written at once; nothing in the file refers to them yet. The structure stays in memory, page by
/// page. A commit writes first the pages behind the end of the last commit, which nothing refers to either,
/// then the superblock, which names the new end, and then the other changed pages, the roots of chunk indices
/// before their leaves: HDF5 splits a full leaf by copying half of it into a new one, and until the old leaf
/// is written over, it holds both halves. A write inside one page is not interrupted by the death of its
/// process.
///
/// After a failure nothing is written any more: what HDF5 changes stays in memory, HDF5 continues to its end,
/// and the file stays as the last commit left it.
class PagedStorage final : public h5::Storage {
 public:
  /// Opens an existing file; `call` writes the values. Errors (io).
  PagedStorage(std::string path, std::unique_ptr<WriteCall> call);
  PagedStorage(const PagedStorage&) = delete;
  PagedStorage& operator=(const PagedStorage&) = delete;
  ~PagedStorage() override;

  [[nodiscard]] std::int64_t size_bytes() const noexcept override;
  bool read(std::int64_t offset, std::span<std::byte> out) noexcept override;
  void write(std::int64_t offset, std::span<const std::byte> bytes, Content content) noexcept override;
  void commit(std::int64_t size_bytes) noexcept override;

  /// The step of the values that follow, for faults. @local
  void set_step(StepIndex step) noexcept { step_ = step; }
  /// Values that follow are bookkeeping, which pace and faults leave alone. @local
  void set_bookkeeping(bool on) noexcept { bookkeeping_ = on; }
  /// Has the device begin to take what was written. @local
  void start_flush() noexcept { file_.start_flush(); }
  /// Waits until everything committed is on the device. @local. Errors (io).
  void flush() { file_.flush(); }
  /// The first failure of a write, if any. @local
  [[nodiscard]] const std::optional<ErrorInfo>& failure() const noexcept { return failure_; }
  /// Cuts off what no commit has claimed. @local
  void cut_off_rest() noexcept;

 private:
  static constexpr std::int64_t page_bytes = 4096;
  using Page = std::array<std::byte, page_bytes>;

  bool read_file(std::int64_t offset, std::span<std::byte> out) noexcept;
  Page& changed_page(std::int64_t number);
  void write_values(std::int64_t offset, std::span<const std::byte> bytes);
  void write_structure(std::int64_t offset, std::span<const std::byte> bytes);
  void write_pages(std::int64_t size_bytes);
  void resize(std::int64_t size_bytes);
  void keep_failure() noexcept;

  std::string path_;
  RawFile file_;
  int fd_ = -1;  ///< for reading
  std::int64_t disk_bytes_ = 0, committed_bytes_ = 0;
  std::map<std::int64_t, Page> changed_;  ///< by number
  StepIndex step_ = 0;
  bool bookkeeping_ = false;
  std::optional<ErrorInfo> failure_;
};

}  // namespace tailrace::output
