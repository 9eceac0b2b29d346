// SPDX-License-Identifier: BSD-3-Clause
#include "growing_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "output/core/raw_file.hpp"

namespace tailrace::molecules {

void make_empty(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw output::file_failure(path, "creating", -1, errno);
  close(file);
}

std::int64_t size_of(const std::string& path) {
  std::error_code code;
  const auto size = std::filesystem::file_size(path, code);
  if (code) throw output::file_failure(path, "looking for its size", -1, code.value());
  return static_cast<std::int64_t>(size);
}

void cut_lines(const std::string& path, const std::function<bool(const std::string&)>& goes) {
  if (!std::filesystem::exists(path)) return make_empty(path);
  std::ifstream in(path);
  std::uintmax_t kept = 0;
  for (std::string line; std::getline(in, line) && !in.eof() && !goes(line);) kept += line.size() + 1;
  std::error_code code;
  std::filesystem::resize_file(path, kept, code);
  if (code) throw output::file_failure(path, "truncating", -1, code.value());
}

}  // namespace tailrace::molecules
