#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tailrace/base/error.hpp"

namespace tailrace::seismic {

/// What is wrong with an input file, and what to do (input).
Error file_error(const std::string& path, const std::string& what, const std::string& fix);

/// A plain file, open for reading at given places.
class InputFile {
 public:
  /// Errors (input): missing, unreadable, no regular file.
  explicit InputFile(std::string path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::int64_t size_bytes() const noexcept { return size_bytes_; }
  /// Reads all of `out` from byte `offset` on. Errors (input): the file ends before, or the system refuses.
  void read(std::int64_t offset, std::span<std::byte> out) const;

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_bytes_ = 0;
};

}  // namespace tailrace::seismic
