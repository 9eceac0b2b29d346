// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/system.hpp"
#include "fragments/mail.hpp"
#include "fragments/placement.hpp"
#include "fragments/store.hpp"

namespace tailrace::fragments {

/// Tells the ranks that may have data fragments of a block that it is over. Names to the same ranks travel
/// together, as a program may have many short blocks, and nobody waits for this word.
class EndedBlocks {
 public:
  /// Sets a handler. @local
  EndedBlocks(Mail& mail, const Placement& placement, Store& store)
      : mail_(&mail), placement_(&placement), store_(&store) {
    mail.handle(block_message, [this](MessageReader& in) {
      for (const auto& name : Mail::read<std::vector<Name>>(in)) store_->end_block(name);
    });
  }
  EndedBlocks(const EndedBlocks&) = delete;
  EndedBlocks& operator=(const EndedBlocks&) = delete;

  /// Of a name without indices, whose block is over. @local, does not wait
  void add(const Name& name) {
    const auto ranks = placement_->holders(name);
    if (ranks.first <= mail_->rank() && mail_->rank() < ranks.second) store_->end_block(name);
    if (mail_->size() == 1 || (ranks.first == mail_->rank() && ranks.second == ranks.first + 1)) return;
    if (words_.empty()) since_s_ = monotonic_s();
    auto& names = words_[ranks];
    names.push_back(name);
    if (names.size() == most) send();
  }
  /// Whether there are names that others do not know of yet. @local
  [[nodiscard]] bool waiting() const noexcept { return !words_.empty(); }
  /// Sends them if they have waited for long. @local, does not wait
  void send_if_due() {
    if (waiting() && monotonic_s() - since_s_ > longest_s) send();
  }

  static constexpr double longest_s = 2e-4;  ///< that a name waits for others

 private:
  static constexpr std::size_t most = 64;  ///< names that travel together

  void send() {
    for (const auto& [ranks, names] : words_)
      for (int rank = ranks.first; rank < ranks.second; ++rank)
        if (rank != mail_->rank()) mail_->send(rank, block_message, names);
    words_.clear();
  }

  Mail* mail_;
  const Placement* placement_;
  Store* store_;
  std::map<std::pair<int, int>, std::vector<Name>> words_;  ///< by the ranks that they are for
  double since_s_ = 0;                                      ///< when the first of them came
};

}  // namespace tailrace::fragments
