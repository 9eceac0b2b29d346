// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/printed_lines.hpp"

#include <iostream>
#include <utility>

#include "tailrace/error.hpp"

namespace tailrace::fragments {

PrintedLines::PrintedLines(bool passes_on) : passes_on_(passes_on), original_(stdout) {
  file_ = ::fopencookie(this, "w", {.read = nullptr, .write = add_to, .seek = nullptr, .close = nullptr});
  // Without a buffer, what a thread prints comes here by that thread.
  if (file_ == nullptr || std::setvbuf(file_, nullptr, _IONBF, 0) != 0)
    throw Error(ErrorKind::io, "standard output cannot be kept in memory");
  std::cout.flush();
  std::fflush(original_);
  original_buffer_ = std::cout.rdbuf(&stream_);
  stdout = file_;
}

PrintedLines::~PrintedLines() {
  stdout = original_;
  std::cout.rdbuf(original_buffer_);
  std::fclose(file_);
  print(take_rest());
}

std::streamsize PrintedLines::Stream::xsputn(const char* text, std::streamsize size) {
  lines_->add({text, static_cast<std::size_t>(size)});
  return size;
}

int PrintedLines::Stream::overflow(int character) {
  const char text = traits_type::to_char_type(character);
  if (!traits_type::eq_int_type(character, traits_type::eof())) lines_->add({&text, 1});
  return traits_type::not_eof(character);
}

ssize_t PrintedLines::add_to(void* lines, const char* text, std::size_t size) {
  static_cast<PrintedLines*>(lines)->add({text, size});
  return static_cast<ssize_t>(size);
}

void PrintedLines::add(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = begun_.try_emplace(std::this_thread::get_id());
  auto& begun = entry->second;
  if (is_new && !earlier_.empty()) {
    begun = std::move(earlier_.back());
    earlier_.pop_back();
  }
  const auto end = text.rfind('\n') + 1;  // 0 if there is none
  if (end > 0) {
    whole_ += begun;
    whole_ += text.substr(0, end);
    begun.clear();
  }
  begun += text.substr(end);
  if (passes_on_ && !whole_.empty()) print(std::exchange(whole_, {}));
  any_.store(!whole_.empty());
}

std::string PrintedLines::take() {
  if (!any_.exchange(false)) return {};
  const std::lock_guard lock(mutex_);
  return std::exchange(whole_, {});
}

std::string PrintedLines::take_rest() {
  const std::lock_guard lock(mutex_);
  for (auto& [thread, line] : begun_) whole_ += std::exchange(line, {});
  for (auto& line : earlier_) whole_ += std::exchange(line, {});
  return std::exchange(whole_, {});
}

std::vector<std::string> PrintedLines::begun() {
  const std::lock_guard lock(mutex_);
  auto lines = earlier_;
  for (const auto& [thread, line] : begun_) lines.push_back(line);
  std::erase(lines, "");
  return lines;
}

void PrintedLines::forget_begun() {
  const std::lock_guard lock(mutex_);
  begun_.clear(), earlier_.clear();
}

void PrintedLines::add_begun(std::string line) {
  const std::lock_guard lock(mutex_);
  earlier_.push_back(std::move(line));
}

void PrintedLines::print(std::string_view text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), original_);
  std::fflush(original_);
}

}  // namespace tailrace::fragments
