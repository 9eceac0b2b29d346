// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tailrace::fragments {

/// What bodies print to the standard output of this process, put together to whole lines for each thread, so
/// that no line is torn by those of other threads and ranks. While this exists, `stdout` and `std::cout`
/// lead here. One per process, made and ended while no other thread prints.
class PrintedLines {
 public:
  /// `passes_on`: whole lines go to the standard output at once; otherwise they are kept until they are
  /// taken.
  /// @local. Errors (io): no memory for it
  explicit PrintedLines(bool passes_on);
  PrintedLines(const PrintedLines&) = delete;
  PrintedLines& operator=(const PrintedLines&) = delete;
  /// What was not taken goes to the standard output.
  ~PrintedLines();

  /// The whole lines that are kept. Any thread. @local
  std::string take();
  /// Everything that is kept, last lines without end included. Any thread. @local
  std::string take_rest();
  /// The lines without an end so far. Any thread. @local
  [[nodiscard]] std::vector<std::string> begun();
  /// Forgets these. Any thread. @local
  void forget_begun();
  /// Has a thread that has printed nothing yet continue a line of an earlier run. Any thread. @local
  void add_begun(std::string line);
  /// Prints to the standard output. Any thread. @local
  void print(std::string_view text);

 private:
  /// Where `std::cout` leads.
  class Stream : public std::streambuf {
   public:
    explicit Stream(PrintedLines& lines) : lines_(&lines) {}

   private:
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int overflow(int character) override;
    PrintedLines* lines_;
  };

  static ssize_t add_to(void* lines, const char* text, std::size_t size);
  void add(std::string_view text);

  bool passes_on_;
  std::mutex mutex_;
  std::atomic<bool> any_{false};  ///< there are whole lines
  std::string whole_;
  std::map<std::thread::id, std::string> begun_;  ///< lines without an end so far
  std::vector<std::string> earlier_;              ///< of an earlier run
  Stream stream_{*this};
  std::FILE* original_ = nullptr;
  std::FILE* file_ = nullptr;
  std::streambuf* original_buffer_ = nullptr;
};

}  // namespace tailrace::fragments
