// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace tailrace::output {

/// Memory that several processes of a machine reach. It has no name, so that nothing is left of it whatever
/// ends the processes, and each of them lets go of it alone: it lives until the last one has. Zero at first.
class SharedRegion {
 public:
  /// Describes what another process needs to find it, a plain value.
  struct Handle {
    pid_t process = 0;
    int descriptor = -1;
    dev_t device = 0;
    ino_t number = 0;
    std::size_t bytes = 0;
  };

  SharedRegion() = default;
  /// Memory of this process, all of it there at once: a machine that is short of it refuses now and not
  /// later. Errors (resource): the system's reason.
  static SharedRegion create(std::size_t bytes);
  /// The memory of another process, which keeps it open meanwhile. Errors (resource): the system's reason.
  static SharedRegion open(const Handle& handle);

  SharedRegion(SharedRegion&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}
  SharedRegion& operator=(SharedRegion&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  ~SharedRegion();

  /// Of memory that is open here.
  [[nodiscard]] Handle handle() const;
  /// Once all have opened it that need it: nobody else can any more.
  void close() noexcept;
  /// It begins on a page boundary.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  SharedRegion(int descriptor, std::size_t bytes);

  std::span<std::byte> bytes_;
  int descriptor_ = -1;
};

}  // namespace tailrace::output
