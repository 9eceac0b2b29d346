// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <random>

#include "base/system.hpp"
#include "output/core/write_call.hpp"

namespace tailrace::output {

namespace {

/// A device that serves one write after the other: each occupies it for its latency and its bytes, and the
/// call returns when the device is done.
class PacedCall final : public WriteCall {
 public:
  PacedCall(std::unique_ptr<WriteCall> next, const Pace& pace, int rank)
      : next_(std::move(next)), pace_(pace), random_(pace.seed + static_cast<std::uint64_t>(rank)) {}

  ssize_t write(int fd, std::span<const iovec> buffers, off_t offset, StepIndex step) override {
    const double start_s = free_from_s();
    const ssize_t taken = next_->write(fd, buffers, offset, step);
    const int error = errno;
    occupy(start_s, std::max<ssize_t>(taken, 0));
    sleep_s(free_at_s_ - monotonic_s());
    errno = error;
    return taken;
  }

  /// The time that the device takes passes before the write instead of after it.
  WriteDecision plan(std::size_t bytes, StepIndex step) override {
    WriteDecision write_decision = next_->plan(bytes, step);
    occupy(free_from_s(), write_decision.error != 0 ? 0 : static_cast<ssize_t>(write_decision.bytes));
    write_decision.not_before_s = std::max(write_decision.not_before_s, free_at_s_);
    return write_decision;
  }

 private:
  /// When the device begins with a write that is asked for now.
  [[nodiscard]] double free_from_s() const noexcept {
    // Sleeps overshoot by some tens of microseconds; a write that follows at once starts when the device was
    // free, so that the rate holds over many writes.
    constexpr double overshoot_s = 1e-3;
    const double now_s = monotonic_s();
    return free_at_s_ < now_s - overshoot_s ? now_s : free_at_s_;
  }

  void occupy(double start_s, ssize_t bytes) {
    double duration_s = pace_.latency_s;
    if (pace_.bandwidth_bytes_s > 0) duration_s += static_cast<double>(bytes) / pace_.bandwidth_bytes_s;
    duration_s *= 1 + pace_.jitter * std::uniform_real_distribution<>(-1, 1)(random_);
    free_at_s_ = start_s + duration_s;
  }

  std::unique_ptr<WriteCall> next_;
  Pace pace_;
  std::mt19937_64 random_;
  double free_at_s_ = 0;
};

}  // namespace

std::unique_ptr<WriteCall> make_paced_call(std::unique_ptr<WriteCall> next, const Pace& pace, int rank) {
  return std::make_unique<PacedCall>(std::move(next), pace, rank);
}

}  // namespace tailrace::output
