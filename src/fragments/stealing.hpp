// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "fragments/mail.hpp"

namespace tailrace::fragments {

/// Moves fragments to ranks that have nothing to do (`--balance steal`). A rank without work asks others, one
/// after the other in random order, until one has some to give or a few had none; these give some when they
/// have it. So no rank asks for ever, and the end of the program can be seen.
class Stealing {
 public:
  using Give = std::function<std::vector<Fragment>()>;
  using Take = std::function<void(std::vector<Fragment>)>;

  /// Sets handlers. `give` returns what this rank can spare; `take` gets what another one did. @local
  Stealing(Mail& mail, Give give, Take take)
      : mail_(&mail), give_(std::move(give)), random_(static_cast<std::uint64_t>(mail.rank()) + 1) {
    mail.handle(steal_message, [this](MessageReader& in) { answer(Mail::read<std::int32_t>(in)); });
    mail.handle(stolen_message, [this, take](MessageReader& in) {
      asking_ = false;
      auto fragments = Mail::read<std::vector<Fragment>>(in);
      const auto marks = Mail::read<std::vector<Mark>>(in);
      for (std::size_t i = 0; i < fragments.size(); ++i) fragments[i].mark = marks.at(i);
      if (fragments.empty()) return;
      asked_.clear();
      take(std::move(fragments));
    });
  }
  Stealing(const Stealing&) = delete;
  Stealing& operator=(const Stealing&) = delete;

  /// This rank has nothing to do: asks the next one, if it is not waiting for an answer. @local
  void ask() {
    if (asking_ || static_cast<int>(asked_.size()) >= std::min(tries, mail_->size() - 1)) return;
    int other = mail_->rank();
    while (other == mail_->rank() || asked_.contains(other))
      other = static_cast<int>(random_.next() % static_cast<std::uint64_t>(mail_->size()));
    asked_.insert(other);
    asking_ = true;
    mail_->send(other, steal_message, std::int32_t{mail_->rank()});
  }
  /// This rank has worked: it may ask all again when it has nothing to do, and gives to those that asked in
  /// vain. @local
  void worked() {
    asked_.clear();
    if (hungry_.empty()) return;
    auto fragments = give_();
    if (fragments.empty()) return;
    const int rank = *hungry_.begin();
    hungry_.erase(rank);
    send(rank, fragments);
  }

 private:
  static constexpr int tries = 4;

  void answer(int rank) {
    const auto fragments = give_();
    if (fragments.empty()) hungry_.insert(rank);
    send(rank, fragments);
  }
  void send(int rank, const std::vector<Fragment>& fragments) {
    std::vector<Mark> marks;
    for (const auto& fragment : fragments) marks.push_back(fragment.mark);
    mail_->send(rank, stolen_message, fragments, marks);
  }

  Mail* mail_;
  Give give_;
  SplitMix64 random_;
  bool asking_ = false;
  std::set<int> asked_;   ///< that were asked since this rank worked
  std::set<int> hungry_;  ///< that asked when there was nothing to spare
};

}  // namespace tailrace::fragments
