// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tailrace::fragments {

/// What bodies print to the standard output of this process, kept until it is taken, so that one rank can
/// print the lines of all and none is torn. While this exists, standard output goes nowhere else. One per
/// process.
class PrintedLines {
 public:
  /// @local. Errors (io): no memory for it
  PrintedLines();
  PrintedLines(const PrintedLines&) = delete;
  PrintedLines& operator=(const PrintedLines&) = delete;
  /// What was not taken goes to the standard output.
  ~PrintedLines();

  /// The whole lines that were printed since the last call. @local
  std::string take();
  /// Everything that was printed since, a last line without end included. @local
  std::string take_rest();

 private:
  void read_new();
  int memory_ = -1, original_ = -1;
  std::string text_;
};

}  // namespace tailrace::fragments
