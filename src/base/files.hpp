// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tailrace/error.hpp"

namespace tailrace {

/// Returns what is wrong with an input file, and what to do (input).
Error file_error(const std::string& path, const std::string& what, const std::string& remedy);

/// A plain file, open for reading at given places. Several threads may read.
class InputFile {
 public:
  /// `remedy` is what a user should do about a file that is too short. Errors (input): missing, unreadable,
  /// no regular file.
  InputFile(std::string path, std::string remedy);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::int64_t size_bytes() const noexcept { return size_bytes_; }
  /// Fills `out` from byte `offset` on. Errors (input): the file ends before; (io): the system refuses.
  void read(std::int64_t offset, std::span<std::byte> out) const;
  /// Bytes that were read so far, by all threads.
  [[nodiscard]] std::int64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  std::string path_, remedy_;
  int file_ = -1;
  std::int64_t size_bytes_ = 0;
  mutable std::atomic<std::int64_t> bytes_read_ = 0;
};

/// Makes a file with this text, all of it on the device. Errors (io).
void write_durably(const std::string& path, const std::string& text);

/// Gives a complete file its final name, in place of an older one, so that it keeps it after a crash of the
/// machine too. Errors (io).
void replace_file(const std::string& from, const std::string& to);

}  // namespace tailrace
