// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/shared_signal.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cmath>
#include <ctime>

namespace tailrace::output {

namespace {

/// The system call, which the C library does not wrap; not its private kind, which knows one process only.
void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit) noexcept {
  syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

void SharedSignal::raise() noexcept {
  value_.fetch_add(1);
  futex(value_, FUTEX_WAKE, INT_MAX, nullptr);
}

void SharedSignal::wait(std::uint32_t seen) const noexcept {
  if (value() == seen) futex(value_, FUTEX_WAIT, seen, nullptr);
}

void SharedSignal::wait(std::uint32_t seen, double limit_s) const noexcept {
  double whole = 0;
  const double fraction = std::modf(limit_s, &whole);
  const timespec limit{.tv_sec = static_cast<time_t>(whole), .tv_nsec = static_cast<long>(fraction * 1e9)};
  if (value() == seen) futex(value_, FUTEX_WAIT, seen, &limit);
}

}  // namespace tailrace::output
