#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tailrace::checkpoint {

/// A file of which bytes are read at places. Several threads may read.
class InputBytes {
 public:
  /// Errors (input): it cannot be opened.
  explicit InputBytes(std::string path);
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;
  ~InputBytes();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Fills `out` from byte `offset` on. Errors (input): the file ends before; (io): the system refuses.
  void read(std::int64_t offset, std::span<std::byte> out) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::int64_t size_ = 0;
};

/// Makes a file with this text, all of it on the device. Errors (io).
void write_durably(const std::string& path, const std::string& text);

}  // namespace tailrace::checkpoint
