// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/system.hpp"
#include "fragments/checkpoints.hpp"
#include "fragments/mail.hpp"

namespace tailrace::fragments {

/// Has all ranks pause together: a rank that wants a checkpoint says so to rank 0, which has all ranks begin
/// nothing new. Messages come to their end as at the end of the program, and what is left then is the state.
class Pausing {
 public:
  /// Sets handlers. Without `checkpoints` nothing ever pauses. @local
  Pausing(Mail& mail, Checkpoints* checkpoints) : mail_(&mail), checkpoints_(checkpoints) {
    mail.handle(wish_message, [this](MessageReader& in) { ask_all(Mail::read<std::uint8_t>(in)); });
    mail.handle(pause_message, [this](MessageReader& in) {
      active_ = true, began_s_ = monotonic_s();
      stops_ = Mail::read<std::uint8_t>(in) != 0;
    });
  }
  Pausing(const Pausing&) = delete;
  Pausing& operator=(const Pausing&) = delete;

  /// Whether this rank begins nothing new. @local
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// Whether the program ends when its state is saved. @local
  [[nodiscard]] bool stops() const noexcept { return stops_; }
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
  /// Finds out, now and then while there is work, whether this rank wants a checkpoint. @local
  void look(bool worked, std::int64_t executed) {
    constexpr std::uint64_t steps_between = 4;
    if (checkpoints_ == nullptr || active_ || wished_ || (worked && steps_++ % steps_between != 0)) return;
    const auto wish = checkpoints_->wish(executed);
    if (wish == Wish::none) return;
    wished_ = true;
    mail_->send(0, wish_message, static_cast<std::uint8_t>(wish == Wish::stop));
  }

 private:
  /// On rank 0. Who wants to stop when a pause without an end has begun says so again after it.
  void ask_all(std::uint8_t stops) {
    if (asked_ || active_) return;
    asked_ = true;
    for (int rank = 0; rank < mail_->size(); ++rank) mail_->send(rank, pause_message, stops);
  }

  Mail* mail_;
  Checkpoints* checkpoints_;
  std::uint64_t steps_ = 0;
  double began_s_ = 0, paused_s_ = 0;
  bool active_ = false, restores_ = false, stops_ = false;
  bool wished_ = false;  ///< this rank has asked for the next pause
  bool asked_ = false;   ///< rank 0 has asked all ranks to pause
};

}  // namespace tailrace::fragments
