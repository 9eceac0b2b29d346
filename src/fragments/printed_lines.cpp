// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/printed_lines.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "tailrace/error.hpp"

namespace tailrace::fragments {

PrintedLines::PrintedLines() : memory_(::memfd_create("printed lines", MFD_CLOEXEC)) {
  std::fflush(stdout);
  original_ = ::dup(STDOUT_FILENO);
  if (memory_ < 0 || original_ < 0 || ::dup2(memory_, STDOUT_FILENO) < 0)
    throw Error(ErrorKind::io, "standard output cannot be kept in memory");
}

PrintedLines::~PrintedLines() {
  read_new();
  ::dup2(original_, STDOUT_FILENO);
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fflush(stdout);
  ::close(original_);
  ::close(memory_);
}

void PrintedLines::read_new() {
  std::fflush(stdout);
  const auto end = ::lseek(memory_, 0, SEEK_CUR);
  if (end <= 0) return;
  const auto first = text_.size();
  text_.resize(first + static_cast<std::size_t>(end));
  const auto got = ::pread(memory_, text_.data() + first, static_cast<std::size_t>(end), 0);
  text_.resize(first + static_cast<std::size_t>(got > 0 ? got : 0));
  if (::ftruncate(memory_, 0) == 0) ::lseek(memory_, 0, SEEK_SET);
}

std::string PrintedLines::take() {
  read_new();
  const auto end = text_.rfind('\n');
  if (end == std::string::npos) return {};
  auto lines = text_.substr(0, end + 1);
  text_.erase(0, end + 1);
  return lines;
}

std::string PrintedLines::take_rest() {
  read_new();
  return std::exchange(text_, {});
}

}  // namespace tailrace::fragments
