// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace tailrace::output {

/// Something that threads of several processes wait for, in memory that they share. Nobody holds anything of
/// it: a process that is killed keeps no other from raising it or from seeing that it was raised.
class SharedSignal {
 public:
  /// To be asked for before looking at what the signal is about.
  [[nodiscard]] std::uint32_t value() const noexcept { return value_.load(); }
  /// After a change of what it is about: wakes all who wait. @local
  void raise() noexcept;
  /// Sleeps until it is raised, returns at once if it was since `seen` was its value; may return early. With
  /// a limit not much longer than that, in seconds. @local
  void wait(std::uint32_t seen) const noexcept;
  void wait(std::uint32_t seen, double limit_s) const noexcept;

 private:
  std::atomic<std::uint32_t> value_ = 0;
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(value_) == sizeof(std::uint32_t));
};

}  // namespace tailrace::output
