// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace tailrace::test {

/// A new empty directory, removed with its contents in the end.
class TempDir {
 public:
  TempDir() : path_((std::filesystem::temp_directory_path() / "tailrace-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", path_, {});
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tailrace::test
