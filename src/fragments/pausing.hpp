// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/system.hpp"
#include "fragments/checkpoints.hpp"
#include "fragments/mail.hpp"

namespace tailrace::fragments {

/// Has all ranks pause together: a rank that wants a checkpoint, or the end, says so to rank 0, which has all
/// ranks begin nothing new. Messages are flushed as at the end of the program, and what is left then is the
/// state.
class Pausing {
 public:
  /// Sets handlers. `checkpoints` may be null, and `between`, which is `Options::between`, empty: without
  /// them nothing ever pauses. @local
  Pausing(Mail& mail, Checkpoints* checkpoints, std::function<bool(bool)> between)
      : mail_(&mail), checkpoints_(checkpoints), between_(std::move(between)) {
    mail.handle(wish_message, [this](MessageReader& in) { ask_all(Mail::read<Wish>(in)); });
    mail.handle(pause_message, [this](MessageReader& in) {
      active_ = true, began_s_ = monotonic_s();
      purpose_ = Mail::read<Wish>(in);
    });
  }
  Pausing(const Pausing&) = delete;
  Pausing& operator=(const Pausing&) = delete;

  /// Whether this rank begins nothing new. @local
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// Whether the program ends in this pause, and whether its state is saved. @local
  [[nodiscard]] bool stops() const noexcept { return purpose_ != Wish::checkpoint; }
  [[nodiscard]] bool saves() const noexcept { return purpose_ != Wish::end; }
  [[nodiscard]] bool restores() const noexcept { return restores_; }
  /// Pauses until the ranks have the state of an earlier run. @collective{ranks}, does not wait
  void begin_restore() noexcept { active_ = restores_ = true; }
  /// All ranks have paused and proceed. @collective{ranks}, does not wait
  void end() noexcept {
    if (!restores_) paused_s_ += monotonic_s() - began_s_;
    active_ = restores_ = wished_ = asked_ = false;
  }
  /// Seconds of all pauses but the one in which state was restored. @local
  [[nodiscard]] double paused_s() const noexcept { return paused_s_; }
  /// Whether somebody is to be called between fragments, also while there is nothing to do. @local
  [[nodiscard]] bool attends() const noexcept { return between_ && !ends_; }
  /// Calls them. It may take part in what other ranks wait for, so it is done in a pause too, and at the end
  /// of the program. @local
  void attend() {
    if (attends()) ends_ = between_(false);
  }
  /// Calls them for the last time: no fragment will run. @local
  void attend_end() const {
    if (between_) between_(true);
  }
  /// Finds out whether this rank wants a checkpoint or the end. @local
  void look(std::int64_t executed) {
    if (active_ || wished_) return;
    auto wish = ends_ ? Wish::end : Wish::none;
    if (!ends_ && checkpoints_ != nullptr) wish = checkpoints_->wish(executed);
    if (wish == Wish::none) return;
    wished_ = true;
    mail_->send(0, wish_message, wish);
  }
  /// Whether it is time for that: now and then while there is work. @local
  bool due(bool worked) noexcept {
    constexpr std::uint64_t steps_between = 4;
    return (checkpoints_ != nullptr || between_) && (!worked || steps_++ % steps_between == 0);
  }

 private:
  /// On rank 0. Who wants to stop when a pause without an end has begun says so again after it.
  void ask_all(Wish purpose) {
    if (asked_ || active_) return;
    asked_ = true;
    for (int rank = 0; rank < mail_->size(); ++rank) mail_->send(rank, pause_message, purpose);
  }

  Mail* mail_;
  Checkpoints* checkpoints_;
  std::function<bool(bool)> between_;
  std::uint64_t steps_ = 0;
  double began_s_ = 0, paused_s_ = 0;
  Wish purpose_ = Wish::none;
  bool active_ = false, restores_ = false;
  bool ends_ = false;    ///< `between` has said so
  bool wished_ = false;  ///< this rank has asked for the next pause
  bool asked_ = false;   ///< rank 0 has asked all ranks to pause
};

}  // namespace tailrace::fragments
