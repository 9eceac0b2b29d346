// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>

#include "fragments/mail.hpp"
#include "fragments/printed_lines.hpp"

namespace tailrace::fragments {

/// Brings what bodies of all ranks print to rank 0, which prints it.
class Printing {
 public:
  /// Sets a handler. `lines`: what bodies of this process print; null: it goes where the launcher leads it.
  /// @local
  Printing(Mail& mail, PrintedLines* lines) : mail_(&mail), lines_(lines) {
    mail.handle(printed_message, [this](MessageReader& in) { print(Mail::read<std::string>(in)); });
  }
  Printing(const Printing&) = delete;
  Printing& operator=(const Printing&) = delete;

  /// Sends whole lines that were printed here. @local, does not wait
  void send() {
    if (lines_ == nullptr) return;
    const auto lines = lines_->take();
    if (!lines.empty()) mail_->send(0, printed_message, lines);
  }
  /// On rank 0. @local
  void print(const std::string& text) {
    if (lines_ != nullptr) return lines_->print(text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  /// All that was printed here and not sent. @local
  std::string take_rest() { return lines_ != nullptr ? lines_->take_rest() : std::string(); }
  /// Lines without an end are in the state that was saved. @local
  void forget_begun() {
    if (lines_ != nullptr) lines_->forget_begun();
  }

 private:
  Mail* mail_;
  PrintedLines* lines_;
};

}  // namespace tailrace::fragments
