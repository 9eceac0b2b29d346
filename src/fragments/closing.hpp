// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fragments/interpreter.hpp"
#include "fragments/mail.hpp"

namespace tailrace::fragments {

/// What a rank has to say when no rank has anything to do.
struct Report {
  std::vector<Stuck> stuck;
  std::vector<Message> failures;
  std::vector<UnusedCount> unused;
  std::int64_t waiting = 0, left_count = 0, left_bytes = 0, forwarded = 0;
  std::string printed;
};

/// The end of a program: all ranks report to rank 0, which asks what is known of what is missing, and says
/// how it ended.
class Closing {
 public:
  /// Sets handlers. `print` is called on rank 0 with what ranks had printed at the end. @local
  Closing(Mail& mail, const Image& image, const Store& store, std::function<void(const std::string&)> print);
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  /// @local, does not wait
  void send(const Report& report);
  /// Whether the ending has arrived. @local
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// The same on all ranks, but for `executed`, which is not in it. @local
  [[nodiscard]] Ending& ending() noexcept { return ending_; }

 private:
  void take_report(MessageReader& in);
  void send_knowledge(MessageReader& in);
  void take_knowledge(MessageReader& in);
  void finish(std::vector<Message> verdict);
  void take_ending(MessageReader& in);

  Mail* mail_;
  const Image* image_;
  const Store* store_;
  std::function<void(const std::string&)> print_;
  Ending ending_;
  bool complete_ = false;
  // of rank 0
  Situation situation_;
  std::vector<Message> failures_;
  std::vector<UnusedCount> unused_;
  Ending total_;
  int reports_ = 0, answers_ = 0;
};

}  // namespace tailrace::fragments
