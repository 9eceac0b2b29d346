// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "fragments/mail.hpp"
#include "tailrace/error.hpp"
#include "tailrace/fragments/options.hpp"

namespace tailrace::fragments {

/// What a rank has at a time.
struct Live {
  std::int64_t fragments = 0, bytes = 0;
};

/// Errors (usage): options that no run can have.
inline void check_limits(const Options& options) {
  if (options.workers < 1)
    throw Error(ErrorKind::usage, fmt::format("{} worker threads cannot run a body", options.workers),
                "give 1 or more");
  if (options.live_fragments < 1 || options.live_bytes < 1)
    throw Error(ErrorKind::usage,
                fmt::format("limits of {} live fragments and {} live bytes: one is below 1",
                            options.live_fragments, options.live_bytes),
                "give 1 or more");
}

/// Decides when a rank holds back the unfolding of fragments: while it, or a rank that it has sent fragments
/// to, has more than its limits. Why no program waits for ever: docs/explain/fragments.md.
class Limits {
 public:
  /// Sets a handler. @local
  Limits(Mail& mail, const Options& options) : mail_(&mail), options_(options) {
    mail.handle(full_message, [this](MessageReader& in) {
      const auto rank = Mail::read<std::int32_t>(in);
      if (Mail::read<std::uint8_t>(in) != 0)
        full_ranks_.insert(rank);
      else
        full_ranks_.erase(rank);
    });
  }
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  /// A fragment has arrived from a rank, which is to know when this one is full. @local
  void sent_by(int rank) { senders_.insert(rank); }
  /// Notes what the rank has, and sends word to others when it becomes full or is no longer. @local
  void note(const Live& live) {
    live_ = live;
    peak_.fragments = std::max(peak_.fragments, live.fragments);
    peak_.bytes = std::max(peak_.bytes, live.bytes);
    if (over(1))
      inform_senders();
    else if (!informed_.empty() && !over(emptier))
      revoke();
  }
  /// Whether unfolding waits. @local
  [[nodiscard]] bool hold() const noexcept { return exceeded() && allowance_ == 0; }
  /// A fragment is going to be unfolded. @local
  void unfold() noexcept {
    if (exceeded())
      --allowance_;
    else
      next_allowance_ = 1;
  }
  /// Nothing can proceed without unfolding beyond the limits: as much is allowed as is needed, or, as that is
  /// not known, one fragment, then two, four and so on until the limits hold again. @local
  void exceed() noexcept {
    allowance_ = next_allowance_;
    next_allowance_ = std::min(2 * next_allowance_, largest_allowance);
  }
  [[nodiscard]] const Live& peak() const noexcept { return peak_; }

 private:
  static constexpr double emptier = 0.75;
  static constexpr std::int64_t largest_allowance = 1 << 20;

  [[nodiscard]] bool over(double share) const noexcept {
    const auto limit = [&](std::int64_t whole) { return share * static_cast<double>(whole); };
    return static_cast<double>(live_.fragments) > limit(options_.live_fragments) ||
           static_cast<double>(live_.bytes) > limit(options_.live_bytes);
  }
  [[nodiscard]] bool exceeded() const noexcept {
    return !full_ranks_.empty() || live_.fragments > options_.live_fragments ||
           live_.bytes > options_.live_bytes;
  }
  void send(int rank, bool full) {
    mail_->send(rank, full_message, std::int32_t{mail_->rank()}, static_cast<std::uint8_t>(full));
  }
  void inform_senders() {
    if (informed_.size() == senders_.size()) return;
    for (const int rank : senders_)
      if (informed_.insert(rank).second) send(rank, true);
  }
  void revoke() {
    for (const int rank : informed_) send(rank, false);
    informed_.clear();
  }

  Mail* mail_;
  Options options_;
  Live live_, peak_;
  std::set<int> senders_, informed_, full_ranks_;
  std::int64_t allowance_ = 0, next_allowance_ = 1;
};

}  // namespace tailrace::fragments
